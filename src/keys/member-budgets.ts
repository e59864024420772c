// The budgets of members: what all keys that a person has made in an account may cost, with that of the playground. The request path
// decides them with the budgets of keys (database/functions/admit_request.sql); here they are set and shown.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../database/orm.ts";
import { type BudgetAmount, budgetState, type KeyBudgetState, requireBudget } from "./key-limits.ts";

/** The budget of a member, and what became of it in its present period. */
export type MemberBudget = { readonly limit: BudgetAmount; readonly state: KeyBudgetState };

const SET = `SELECT set_member_budget($1::uuid, $2::uuid, $3::bigint, $4::text)`;

type Which = { readonly accountId: string; readonly personId: string };

/** Reads the budgets of members of an account, by person. A person without one is not in it. */
export async function readMemberBudgets(
  pool: Pool | PoolClient,
  { accountId, personIds }: { accountId: string; personIds: readonly string[] },
): Promise<ReadonlyMap<string, MemberBudget>> {
  const { em, MemberBudget: Budget } = await entitiesOn(pool);
  const rows = await em.find(Budget, { accountId, personId: { $in: [...personIds] } });
  return new Map(
    rows.map(({ personId, budget: amount, budgetPeriod: period, budgetSpentNow, budgetHeld, ...when }) => {
      const counted = { spentNow: budgetSpentNow, held: budgetHeld, zone: when.budgetZone, endsAt: when.budgetEndsAt };
      return [personId, { limit: { amount, period }, state: budgetState({ amount, period, ...counted }) }];
    }),
  );
}

/** Reads the budget of one member. Null: there is none. */
export async function readMemberBudget(
  pool: Pool | PoolClient,
  { accountId, personId }: Which,
): Promise<MemberBudget | null> {
  return (await readMemberBudgets(pool, { accountId, personIds: [personId] })).get(personId) ?? null;
}

/** Sets the budget of a member behind the lock of the account; null removes it. Errors: ValidationError. */
export async function setMemberBudget(
  client: PoolClient,
  { accountId, personId, budget }: Which & { readonly budget: BudgetAmount | null },
): Promise<void> {
  requireBudget(budget, "budgetIdr");
  await client.query(SET, [accountId, personId, budget?.amount ?? null, budget?.period ?? null]);
}
