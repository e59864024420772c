// The billing settings of operators. A change is a new version of its name, so former values stay known. The operator and the reason are
// a line of operator_action in the same transaction.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../database/orm.ts";
import { LimitExceeded } from "../kernel/errors.ts";
import { idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";

/** The current settings. */
export type BillingSettings = {
  /** The credit of a new account, in micro-rupiah; 0: none. */
  readonly welcomeCredit: bigint;
};

/** The most that can be given to every new account, in micro-rupiah; more is a typing error. */
export const MAX_WELCOME_CREDIT = 10n ** 7n * 10n ** 6n;
const WELCOME_CREDIT = "welcome_credit";
/** Setters that meet take the next version in turn. */
const MAX_MEETINGS = 10;

/** Reads the settings. The welcome credit is 0 until an operator sets it. */
export async function readBillingSettings(client: Pool | PoolClient): Promise<BillingSettings> {
  return { welcomeCredit: BigInt((await lastOf(client, WELCOME_CREDIT))?.value ?? 0) };
}

/**
 * Sets the welcome credit, inside the caller's transaction; false when it was so already. Errors: LimitExceeded when it is
 * negative or too much.
 */
export async function setWelcomeCredit(client: PoolClient, units: bigint): Promise<boolean> {
  if (units < 0n || units > MAX_WELCOME_CREDIT) {
    throw new LimitExceeded(`A welcome credit is from Rp 0.00 to ${rupiahText(idr(MAX_WELCOME_CREDIT))}.`);
  }
  for (let meetings = 0; meetings < MAX_MEETINGS; meetings += 1) {
    const last = await lastOf(client, WELCOME_CREDIT);
    if (BigInt(last?.value ?? 0) === units) return false;
    if (await add(client, { name: WELCOME_CREDIT, version: (last?.version ?? 0) + 1, value: String(units) }))
      return true;
  }
  throw new LimitExceeded("Others are changing this setting. Look at it and try again.");
}

async function lastOf(
  client: Pool | PoolClient,
  name: string,
): Promise<{ version: number; value: string } | undefined> {
  const { em, OperatorSetting } = await entitiesOn(client);
  return (await em.findOne(OperatorSetting, { name }, { orderBy: { version: "desc" } })) ?? undefined;
}

/** Adds a version; false when another setter took it. */
async function add(
  client: PoolClient,
  setting: { readonly name: string; readonly version: number; readonly value: string },
): Promise<boolean> {
  const { em, OperatorSetting } = await entitiesOn(client);
  const insert = em.createQueryBuilder(OperatorSetting).insert(setting).onConflict().ignore();
  return (await insert.execute("run")).affectedRows === 1;
}
