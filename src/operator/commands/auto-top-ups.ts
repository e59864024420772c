// What operators do about automatic top-ups: turning an account's off. The rule is billing's; the lines are written in its transaction.

import * as settings from "../../billing/auto-top-ups/settings.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";

/**
 * Turns an account's automatic top-ups off, until a member saves the settings again. Returns whether they were on. Errors: NotFound,
 * ValidationError.
 */
export async function turnOffAutoTopUp(
  by: OperatorContext,
  { accountId, reason }: { readonly accountId: string; readonly reason: string },
): Promise<{ readonly wasOn: boolean }> {
  const stopped = await withAuditLog(
    by,
    (client) => settings.turnOffAutoTopUp(client, accountId),
    (was) => {
      if (was === null) return null;
      const facts = { amount: formatMoney(idr(was.amount)), monthlyCap: formatMoney(idr(was.monthlyCap)) };
      const shown = { accountId, action: "auto_top_up.turned_off", subject: null };
      return { action: "auto-top-up off", subject: accountId, reason, facts, inAccount: shown };
    },
  );
  return { wasOn: stopped !== null };
}
