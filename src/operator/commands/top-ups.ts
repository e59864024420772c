// What operators do about a top-up: asking its provider now, giving play money back, and posting the fee that its provider kept. The
// provider is asked outside of any transaction, so the line of the command is written before: money never moves without one.

import { withAuditLog, type OperatorAction, type OperatorContext } from "../audit-log/operator-actions.ts";
import type { SandboxDesk } from "../../billing/payments/sandbox/sandbox-desk.ts";
import * as providerMoney from "../../billing/top-ups/provider-money.ts";
import type { PostedFee, ProviderFee } from "../../billing/top-ups/provider-money.ts";
import { selectTopUps } from "../../billing/top-ups/store.ts";
import type { TopUp } from "../../billing/top-ups/top-up.ts";
import type { TopUps } from "../../billing/top-ups/top-ups.ts";
import { NotFound } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";

/**
 * Asks the provider about a top-up now, and applies its answer. Errors: NotFound, which leaves no line; UpstreamBusy when the
 * provider does not answer.
 */
export async function verifyTopUp(
  by: OperatorContext,
  verifyNow: TopUps["verifyNow"],
  command: { topUpId: string; reason: string | null },
): Promise<TopUp> {
  const { topUpId } = await recordCommand(by, command.topUpId, {
    action: "top-up verify",
    inAccount: "top_up.checked",
    reason: command.reason,
  });
  return verifyNow(topUpId);
}

/** Posts what a provider kept of a payment according to its statement. Errors: as providerMoney.postProviderFee. */
export function postProviderFee(by: OperatorContext, command: ProviderFee): Promise<PostedFee> {
  return withAuditLog(
    by,
    (client) => providerMoney.postProviderFee(client, command),
    ({ isNew, postingId, topUp }) =>
      isNew
        ? {
            action: "top-up fee",
            subject: topUp.topUpId,
            reason: command.reference,
            facts: { postingId, accountId: topUp.accountId, amount: formatMoney(idr(command.amount)) },
            inAccount: null,
          }
        : null,
  );
}

/**
 * Gives a sandbox payment back, all that is left or a part, or takes it all back as the payer's bank does; then asks about it. Errors:
 * NotFound, ValidationError.
 */
export async function returnSandboxPayment(
  by: OperatorContext,
  { topUps, desk }: { topUps: Pick<TopUps, "verifyNow">; desk: SandboxDesk },
  { how, amount, ...command }: { topUpId: string; how: "refund" | "charge-back"; amount: bigint | null },
): Promise<TopUp> {
  const facts = { amount: amount === null ? "all" : formatMoney(idr(amount)) };
  const { topUpId } = await recordCommand(by, command.topUpId, {
    action: `top-up ${how}`,
    inAccount: how === "refund" ? "top_up.refunded" : "top_up.charged_back",
    reason: null,
    facts,
  });
  if (how === "refund") await desk.refund(topUpId, amount);
  else await desk.chargeBack(topUpId);
  return topUps.verifyNow(topUpId);
}

/**
 * Writes the line of a command about an existing top-up, with its state. Returns the id to use next: a provider compares ids as texts,
 * and the operator may have written one in capitals.
 */
function recordCommand(
  by: OperatorContext,
  named: string,
  {
    action,
    inAccount,
    reason,
    facts = {},
  }: Pick<OperatorAction, "action" | "reason" | "facts"> & { inAccount: string },
): Promise<TopUp> {
  return withAuditLog(
    by,
    async (client) => {
      const [topUp] = await selectTopUps(client, [named]);
      if (topUp === undefined) throw new NotFound("There is no such top-up.");
      return topUp;
    },
    ({ topUpId, accountId, state }) => ({
      action,
      subject: topUpId,
      reason,
      facts: { accountId, state, ...facts },
      inAccount: { accountId, action: inAccount, subject: topUpId, facts },
    }),
  );
}
