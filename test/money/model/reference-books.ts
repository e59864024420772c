// The books that the reference ledger expects in the database for an account.

import type { Books } from "./actions.ts";
import { type ReferenceLedger, slotsTaken } from "./reference.ts";

export function booksOf(ledger: ReferenceLedger, accountId: string): Books {
  const usage = [...ledger.resolved].filter(([requestId]) => ledger.accountOf(requestId) === accountId);
  const losses = usage.reduce(
    (sum, [id, { cost, charge }]) => sum + cost - charge + (ledger.late.get(id)?.loss ?? 0n),
    0n,
  );
  const keys = [...ledger.keys].filter(([, key]) => key.accountId === accountId);
  const posted = String(ledger.posted.get(accountId));
  const limits = ledger.limitsOf(accountId);
  const holds = ledger.holdsOf(accountId);
  return {
    posted,
    owed: String(ledger.owedBy(accountId)),
    held: String(ledger.held(accountId)),
    state: `${limits.frozen ? "frozen" : "open"}, ${holds.length} of ${limits.mostOpen}`,
    postings: posted,
    losses: String(losses),
    holds: Object.fromEntries(holds.map(([id, hold]) => [id, `${hold.amount} at ${hold.input}+${hold.output}`])),
    usage: Object.fromEntries(usage.map(([id, { cost, charge, basis }]) => [id, `${charge} of ${cost}, ${basis}`])),
    keys: Object.fromEntries(
      keys.map(([id, key]) => [id, `${key.isRevoked ? "revoked" : "working"}, ${slotsTaken(key)} of ${key.rateLimit}`]),
    ),
  };
}
