// The billing settings of operators. A change is a new version of its name, so former values stay known. The operator and the reason are
// a line of operator_action in the same transaction.

import type { Pool, PoolClient } from "pg";
import { LimitExceeded, ValidationError } from "../kernel/errors.ts";
import { idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { NOBODY, type Party, readParty } from "./receipts/party.ts";
import type { TaxRule } from "./receipts/tax.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** The current settings. */
export type BillingSettings = {
  /** The credit of a new account, in micro-rupiah; 0: none. */
  readonly welcomeCredit: bigint;
  /** Who sells, as receipts name it. Its name is empty until an operator sets it. */
  readonly seller: Party;
  /** How top-ups are taxed from now on. */
  readonly tax: TaxRule;
};

/** The most that can be given to every new account, in micro-rupiah; more is a typing error. */
export const MAX_WELCOME_CREDIT = 10n ** 7n * 10n ** 6n;
/** The highest rate of tax, in hundredths of a percent; more is a typing error. */
export const MAX_TAX_RATE = 2_500;
const NO_TAX: TaxRule = { rate: 0, isIncluded: false };
const WELCOME_CREDIT = "welcome_credit";
const SELLER = "seller";
const TAX = "top_up_tax";
const LAST = `SELECT version, value FROM operator_setting WHERE name = $1 ORDER BY version DESC LIMIT 1`;
const ADD = `INSERT INTO operator_setting (name, version, value) VALUES ($1, $2::int, $3) ON CONFLICT DO NOTHING`;
/** Processes register with the code they run since this change, which is later than the change that brought the tax. */
const TAX_NEEDS = "process-code";
const REQUIRE_CODE = "SELECT * FROM require_code($1)";
/** Setters that meet take the next version in turn. */
const MAX_MEETINGS = 10;

/** Reads the settings. The welcome credit and the tax are 0 until an operator sets them. */
export async function readBillingSettings(client: Queryable): Promise<BillingSettings> {
  const credit = await lastOf(client, WELCOME_CREDIT);
  const seller = await lastOf(client, SELLER);
  const tax = await lastOf(client, TAX);
  return {
    welcomeCredit: BigInt(credit?.value ?? 0),
    seller: seller === undefined ? NOBODY : (JSON.parse(seller.value) as Party),
    tax: tax === undefined ? NO_TAX : (JSON.parse(tax.value) as TaxRule),
  };
}

/** How a top-up that is ordered now is taxed. */
export async function readTaxRule(client: Pool | PoolClient): Promise<TaxRule> {
  const last = await lastOf(client, TAX);
  return last === undefined ? NO_TAX : (JSON.parse(last.value) as TaxRule);
}

/**
 * Sets the welcome credit, inside the caller's transaction; false when it was so already. Errors: LimitExceeded when it is
 * negative or too much.
 */
export async function setWelcomeCredit(client: PoolClient, units: bigint): Promise<boolean> {
  if (units < 0n || units > MAX_WELCOME_CREDIT) {
    throw new LimitExceeded(`A welcome credit is from Rp 0.00 to ${rupiahText(idr(MAX_WELCOME_CREDIT))}.`);
  }
  return set(client, WELCOME_CREDIT, { value: String(units), initial: "0" });
}

/**
 * Sets who sells, inside the caller's transaction; false when it was so already. Errors: ValidationError, also where the NPWP is taken
 * away while tax is charged; LimitExceeded.
 */
export async function setSeller(client: PoolClient, typed: Party): Promise<boolean> {
  const seller = readParty(typed, "seller");
  if (seller.name === "") throw invalid("seller.name", "must not be empty");
  const { tax } = await readBillingSettings(client);
  if (tax.rate > 0 && seller.npwp === "") throw invalid("seller.npwp", "must be given while tax is charged");
  return set(client, SELLER, { value: JSON.stringify(seller), initial: JSON.stringify(NOBODY) });
}

/**
 * Sets how top-ups are taxed that are ordered from now on, inside the caller's transaction; false when it was so already. Errors:
 * ValidationError, also where the seller has no NPWP; LimitExceeded, also while processes of an older version may run.
 */
export async function setTaxRule(client: PoolClient, { rate, isIncluded }: TaxRule): Promise<boolean> {
  if (!Number.isInteger(rate) || rate < 0 || rate > MAX_TAX_RATE)
    throw invalid("tax.rate", `must be from 0 to ${MAX_TAX_RATE / 100} percent, with at most two decimals`);
  const { seller } = await readBillingSettings(client);
  if (rate > 0 && seller.npwp === "") throw invalid("tax.rate", "needs a seller with an NPWP");
  if (rate > 0) await endOlderCode(client);
  return set(client, TAX, { value: JSON.stringify({ rate, isIncluded }), initial: JSON.stringify(NO_TAX) });
}

/** Code of before the tax gives taxed payments back without it, so none may run from the first tax on. Errors: LimitExceeded. */
async function endOlderCode(client: PoolClient): Promise<void> {
  const { rowCount } = await client.query(REQUIRE_CODE, [TAX_NEEDS]);
  if (rowCount === null || rowCount === 0) return;
  throw new LimitExceeded(
    `${rowCount} ${rowCount === 1 ? "process" : "processes"} of an older version may still run, and would give taxed payments back ` +
      `wrongly. Stop the older version on all nodes. A process that ended without notice counts until a running one declares it dead: ` +
      `try again after a minute.`,
  );
}

function invalid(field: string, message: string): ValidationError {
  return new ValidationError([{ field, rule: `settings.${field}`, message }]);
}

/** Writes the next version of a setting; false where it has that value. `initial`: what holds before the first version. */
async function set(
  client: PoolClient,
  name: string,
  { value, initial }: { readonly value: string; readonly initial: string },
): Promise<boolean> {
  for (let meetings = 0; meetings < MAX_MEETINGS; meetings += 1) {
    const last = await lastOf(client, name);
    if ((last?.value ?? initial) === value) return false;
    if (await add(client, { name, version: (last?.version ?? 0) + 1, value })) return true;
  }
  throw new LimitExceeded("Others are changing this setting. Look at it and try again.");
}

async function lastOf(client: Queryable, name: string): Promise<{ version: number; value: string } | undefined> {
  return (await client.query<{ version: number; value: string }>(LAST, [name])).rows[0];
}

/** Adds a version; false when another setter took it. */
async function add(
  client: PoolClient,
  { name, version, value }: { readonly name: string; readonly version: number; readonly value: string },
): Promise<boolean> {
  return (await client.query(ADD, [name, version, value])).rowCount === 1;
}
