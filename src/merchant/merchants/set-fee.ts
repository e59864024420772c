// The fee schedule in use: reading the row that prices a transfer, and adding a version.

import type { Pool, PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { DecimalError, formatDecimal, parseDecimal } from "../../kernel/decimal.ts";
import { ServiceBusy, ValidationError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { MAX_AMOUNT_COINS } from "../transfers/amount.ts";
import { isCurrency } from "../chains/currencies.ts";
import { chooseFeeRow, FEE_DECIMALS, FEE_UNIT, type FeeRow, type FeeTerms } from "./fee-schedule.ts";
import { insertFeeVersion, readFeeRows, readFeeVersion } from "./fee-store.ts";
import { requireMerchant } from "./store.ts";

/** The largest rate: a fee of a hundred times the amount. */
const MAX_RATE = 100n;
/** How often another writer may take the next version of a scope before the caller is asked to try again. */
const MAX_VERSION_ATTEMPTS = 5;

/** Reads the row that prices a transfer now. Nothing is cached: a new version applies from the next quote. */
export async function findFeeRow(
  database: Pick<Database, "pool">,
  transfer: { merchantId: string; currencyCode: string },
): Promise<FeeRow> {
  const row = chooseFeeRow(await readFeeRows(database.pool, transfer), transfer);
  invariant(row !== undefined, "the fee schedule has a default row");
  return row;
}

/** Terms as an operator writes them: decimals in whole coins, the rate as a part of one. Absent: no such bound. */
export type FeeChange = {
  readonly merchantId?: string;
  readonly currencyCode?: string;
  readonly flat: string;
  readonly rate: string;
  readonly min?: string;
  readonly max?: string;
};

/** The row in force. Not new: its terms were the same before, and no version was added. */
export type SetFee = { readonly row: FeeRow; readonly isNew: boolean };

/**
 * Adds a version of the terms for a merchant and currency, a merchant, a currency, or as the default, unless they are
 * already in force; also inside the caller's transaction. Errors: ValidationError, CurrencyUnsupported, NotFound,
 * ServiceBusy.
 */
export async function setFee(client: Pool | PoolClient, change: FeeChange): Promise<SetFee> {
  const terms = parseTerms(change);
  if (change.currencyCode !== undefined && !isCurrency(change.currencyCode)) throw new CurrencyUnsupported();
  if (change.merchantId !== undefined) await requireMerchant(client, change.merchantId);
  const scope = { merchantId: change.merchantId ?? null, currencyCode: change.currencyCode ?? null };
  for (let attempt = 1; attempt <= MAX_VERSION_ATTEMPTS; attempt += 1) {
    const current = await readFeeVersion(client, scope);
    if (current !== undefined && areSameTerms(current, terms)) return { row: current, isNew: false };
    // The version after the one that was read: if another writer takes it first, the new terms have to be compared too.
    const version = (current?.version ?? 0) + 1;
    const row = await insertFeeVersion(client, { id: uuidv7(), ...scope, version, ...terms });
    if (row !== undefined) return { row, isNew: true };
  }
  throw new ServiceBusy(1);
}

function areSameTerms(one: FeeTerms, other: FeeTerms): boolean {
  return (["flat", "rate", "min", "max"] as const).every((name) => one[name] === other[name]);
}

/** Reads the terms of a change. Errors: ValidationError. */
export function parseTerms(change: Omit<FeeChange, "merchantId" | "currencyCode">): FeeTerms {
  const terms = {
    flat: parseTerm("flat", change.flat, MAX_AMOUNT_COINS),
    rate: parseTerm("rate", change.rate, MAX_RATE),
    min: change.min === undefined ? null : parseTerm("min", change.min, MAX_AMOUNT_COINS),
    max: change.max === undefined ? null : parseTerm("max", change.max, MAX_AMOUNT_COINS),
  };
  if (terms.min !== null && terms.max !== null && terms.min > terms.max) {
    throw new ValidationError([{ field: "min", rule: "fee.min_lte_max", message: "must not be greater than max" }]);
  }
  return terms;
}

function parseTerm(field: string, text: string, limit: bigint): bigint {
  try {
    const value = parseDecimal(text, FEE_DECIMALS);
    if (value <= limit * FEE_UNIT) return value;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    throw new ValidationError([{ field, rule: "decimal", message: error.message }], { cause: error });
  }
  throw new ValidationError([{ field, rule: "decimal.lte", message: `must be at most ${formatDecimal(limit, 0)}` }]);
}
