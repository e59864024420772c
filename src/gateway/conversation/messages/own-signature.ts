/**
 * Clients send a thought back only with a signature. Other providers see from this one that the thought is not theirs. A thought whose
 * provider wants something back has that as its signature.
 */
export const OWN_SIGNATURE = "saldo.unsigned";
