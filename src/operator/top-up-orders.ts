// What an operator orders about a top-up: to ask its provider now, and, of play money, to give it back.

import { doAndRecord, type OrderedBy } from "../accounts/operator-actions.ts";
import type { SandboxDesk } from "../billing/payments/sandbox/sandbox-desk.ts";
import type { TopUp } from "../billing/top-ups/top-up.ts";
import type { TopUps } from "../billing/top-ups/top-ups.ts";
import { formatMoney, idr } from "../kernel/money.ts";

/**
 * Has the provider asked about a top-up now, and what it says applied. That is another transaction than the line's: the provider
 * is asked in between. Errors: NotFound; UpstreamBusy when the provider does not answer.
 */
export async function orderVerification(
  by: OrderedBy,
  topUps: Pick<TopUps, "verifyNow">,
  { topUpId, reason }: { topUpId: string; reason: string | null },
): Promise<TopUp> {
  const topUp = await topUps.verifyNow(topUpId);
  return doAndRecord(
    by,
    () => Promise.resolve(topUp),
    ({ state, amount }) => ({
      action: "top-up verify",
      subject: topUpId,
      reason,
      facts: { state, amount: formatMoney(idr(amount)) },
    }),
  );
}

/**
 * Gives a sandbox payment back, all that is left or a part, or takes it all back as the payer's bank does; then asks about it. Errors:
 * NotFound, ValidationError.
 */
export async function orderSandboxReturn(
  by: OrderedBy,
  { topUps, desk }: { topUps: Pick<TopUps, "verifyNow">; desk: SandboxDesk },
  { topUpId, how, amount }: { topUpId: string; how: "refund" | "charge-back"; amount: bigint | null },
): Promise<TopUp> {
  if (how === "refund") await desk.refund(topUpId, amount);
  else await desk.chargeBack(topUpId);
  const topUp = await topUps.verifyNow(topUpId);
  return doAndRecord(
    by,
    () => Promise.resolve(topUp),
    ({ state, givenBack }) => ({
      action: `top-up ${how}`,
      subject: topUpId,
      reason: null,
      facts: { state, givenBack: formatMoney(idr(givenBack)) },
    }),
  );
}
