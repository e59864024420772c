// What operators do about a top-up: asking its provider now, giving play money back, and posting the fee that its provider kept. A
// provider is asked outside of any transaction, so the line of that command is written before. The sandbox provider is in this database:
// its refund and the lines about it are one transaction.

import type { PoolClient } from "pg";
import {
  withAuditLog,
  type CommandLine,
  type OperatorAction,
  type OperatorContext,
} from "../audit-log/operator-actions.ts";
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
  const { topUpId } = await withAuditLog(
    by,
    (client) => findTopUp(client, command.topUpId),
    lineOf({ action: "top-up verify", inAccount: "top_up.checked", reason: command.reason }),
  );
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
  const topUp = await findTopUp(by.database.pool, command.topUpId);
  const { topUpId } = topUp;
  const line = lineOf({
    action: `top-up ${how}`,
    inAccount: how === "refund" ? "top_up.refunded" : "top_up.charged_back",
    reason: null,
    facts: { amount: amount === null ? "all" : formatMoney(idr(amount)) },
  });
  const record = (client: PoolClient): Promise<TopUp> =>
    withAuditLog({ ...by, within: client }, async () => topUp, line);
  if (how === "refund") await desk.refund(topUpId, amount, record);
  else await desk.chargeBack(topUpId, record);
  return topUps.verifyNow(topUpId);
}

/** A provider compares ids as texts, and the operator may have written one in capitals: the id to use next is that of the result. */
async function findTopUp(client: Pick<PoolClient, "query">, named: string): Promise<TopUp> {
  const [topUp] = await selectTopUps(client, [named]);
  if (topUp === undefined) throw new NotFound("There is no such top-up.");
  return topUp;
}

/** The line of a command about a top-up, with the state that it had. */
function lineOf({
  action,
  inAccount,
  reason,
  facts = {},
}: Pick<OperatorAction, "action" | "reason" | "facts"> & { inAccount: string }): (topUp: TopUp) => CommandLine {
  return ({ topUpId, accountId, state }) => ({
    action,
    subject: topUpId,
    reason,
    facts: { accountId, state, ...facts },
    inAccount: { accountId, action: inAccount, subject: topUpId, facts },
  });
}
