// The budget of a member, as owners and admins set it. What counts in it is decided with each request, by other rooms.

import type { PoolClient } from "pg";
import type { BudgetPeriod } from "../../kernel/key-limit-errors.ts";
import { RoleMissing } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import { recordActivity } from "./activity.ts";
import { requireManager } from "./member-roles.ts";
import type { MemberId } from "./member-store.ts";
import { type Actor, inAccount, type MemberPorts, requireMember } from "./members.ts";

/** Micro-rupiah in a period. Null: no budget. */
export type Budget = { readonly amount: bigint; readonly period: BudgetPeriod } | null;

/** Sets the budget of a member behind the lock of the account. Errors: ValidationError. */
export type WriteBudget = (client: PoolClient, member: MemberId & { readonly budget: Budget }) => Promise<void>;

/** Reads the budget of a member, behind the lock of the account. */
export type ReadBudget = (client: PoolClient, member: MemberId) => Promise<Budget>;

/**
 * Sets the budget of a member. Errors: NotFound; RoleMissing, also where an admin would raise, reset or remove the own one;
 * ValidationError.
 */
export function setMemberBudget(
  ports: Pick<MemberPorts, "database" | "lockAccount"> & {
    readonly writeBudget: WriteBudget;
    readonly readBudget: ReadBudget;
  },
  { actor, personId, budget }: { actor: Actor; personId: string; budget: Budget },
): Promise<void> {
  const { accountId } = actor;
  return inAccount(ports, accountId, async (client) => {
    const { email, role } = await requireMember(client, { accountId, personId });
    await requireManager(client, actor, [role]);
    const before = await ports.readBudget(client, { accountId, personId });
    if (actor.personId === personId && role !== "owner") requireNoRaise(before, budget);
    await ports.writeBudget(client, { accountId, personId, budget });
    const line = {
      accountId,
      personId: actor.personId,
      actor: actor.email,
      action: "member.budget_set",
      subject: personId,
    };
    await recordActivity(client, { ...line, facts: { email, ...changedBudgetFacts(before, budget) } });
  });
}

/** Another period would count from zero again, so it is a raise, too. Errors: RoleMissing. */
function requireNoRaise(present: Budget, wanted: Budget): void {
  if (present === null) return;
  if (wanted === null || wanted.period !== present.period || wanted.amount > present.amount)
    throw new RoleMissing(true);
}

/** The budget as it was and as it is. Without an amount that is, it was removed. */
function changedBudgetFacts(before: Budget, budget: Budget): Readonly<Record<string, string>> {
  const was = Object.entries(budgetFacts(before)).map(([name, fact]) => [`before.${name}`, fact] as const);
  return { ...budgetFacts(budget), ...Object.fromEntries(was) };
}

/** A budget as a line of the activity log has it. */
export function budgetFacts(budget: Budget): Readonly<Record<string, string>> {
  return budget === null ? {} : { amount: formatMoney(idr(budget.amount)), period: budget.period };
}
