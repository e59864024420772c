// All the bugs there are.

import type { PlantedBug } from "../planted-bug.ts";
import { ADMISSION_BUGS } from "./admission.ts";
import { ANSWER_BUGS } from "./answers.ts";
import { ARITHMETIC_BUGS } from "./arithmetic.ts";
import { CALLER_BUGS } from "./callers.ts";
import { PAYOUT_RULES, PAYOUTS } from "./payouts.ts";
import { CALLBACK_BUGS } from "./callbacks.ts";
import { RECOVERY_BUGS } from "./recovery.ts";
import { SETTLEMENT_BUGS } from "./settlement.ts";
import { TRANSFER_BUGS } from "./transfers.ts";
import { TOP_UP_BUGS } from "./top-ups.ts";
import { USAGE_BUGS } from "./usage.ts";

/** In the order in which they are planted. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...ADMISSION_BUGS,
  ...SETTLEMENT_BUGS,
  ...RECOVERY_BUGS,
  ...ARITHMETIC_BUGS,
  ...ANSWER_BUGS,
  ...CALLBACK_BUGS,
  ...TRANSFER_BUGS,
  ...TOP_UP_BUGS,
  ...USAGE_BUGS,
  ...PAYOUT_RULES,
  ...PAYOUTS,
  ...CALLER_BUGS,
];
