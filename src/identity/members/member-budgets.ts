// The budget of a member, as owners and admins set it. What counts in it is decided with each request, by other rooms.

import type { PoolClient } from "pg";
import type { BudgetPeriod } from "../../kernel/key-limit-errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import { recordActivity } from "./activity.ts";
import { requireManager } from "./member-roles.ts";
import type { MemberId } from "./member-store.ts";
import { type Actor, inAccount, type MemberPorts, requireMember } from "./members.ts";

/** Micro-rupiah in a period. Null: no budget. */
export type Budget = { readonly amount: bigint; readonly period: BudgetPeriod } | null;

/** Sets the budget of a member behind the lock of the account. Errors: ValidationError. */
export type WriteBudget = (client: PoolClient, member: MemberId & { readonly budget: Budget }) => Promise<void>;

/** Sets the budget of a member. Errors: NotFound, RoleMissing, ValidationError. */
export function setMemberBudget(
  ports: Pick<MemberPorts, "database" | "lockAccount"> & { readonly writeBudget: WriteBudget },
  { actor, personId, budget }: { actor: Actor; personId: string; budget: Budget },
): Promise<void> {
  const { accountId } = actor;
  return inAccount(ports, accountId, async (client) => {
    const { email, role } = await requireMember(client, { accountId, personId });
    await requireManager(client, actor, [role]);
    await ports.writeBudget(client, { accountId, personId, budget });
    const line = {
      accountId,
      personId: actor.personId,
      actor: actor.email,
      action: "member.budget_set",
      subject: personId,
    };
    await recordActivity(client, { ...line, facts: { email, ...budgetFacts(budget) } });
  });
}

/** A budget as a line of the activity log has it. */
export function budgetFacts(budget: Budget): Readonly<Record<string, string>> {
  return budget === null ? {} : { amount: formatMoney(idr(budget.amount)), period: budget.period };
}
