// What an account wants to be topped up with by itself, and the method that pays it.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { withTransaction } from "../../database/transactions.ts";
import { DecimalError } from "../../kernel/decimal.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { formatMoney, idr, IDR, parseMoney } from "../../kernel/money.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { taxedAmountOf } from "../receipts/tax.ts";
import { readTaxRule } from "../settings.ts";
import { eraseMethod, readMethod, type ShownMethod } from "./saved-method.ts";
import {
  type AutoTopUpSettings,
  type OpenOrder,
  readHistory,
  selectOpenOrder,
  selectSettings,
  turnOff,
  writeSettings,
} from "./store.ts";

/** The least and the most of each amount, in micro-rupiah. With the highest tax inside, the least is still an amount of a top-up. */
const LEAST_AMOUNT = parseMoney("50000", IDR).units;
const MOST = parseMoney("1000000000", IDR).units;
const WHOLE_RUPIAH = parseMoney("1", IDR).units;

/** Settings as they are written: amounts are decimal texts of rupiah. */
export type WrittenAutoTopUp = {
  readonly isOn: boolean;
  readonly threshold: string;
  readonly amount: string;
  readonly monthlyCap: string;
};

/** Settings as their account sees them. */
export type ShownAutoTopUp = {
  /** Null: none were ever saved. */
  readonly settings: AutoTopUpSettings | null;
  /** When refusals paused it. Null: they have not. */
  readonly pausedAt: Date | null;
  readonly method: ShownMethod | null;
  /** What was charged this month, orders that are open included, in micro-rupiah. */
  readonly charged: bigint;
};

/** Reads the settings of an account. */
export function readAutoTopUp(database: Database, accountId: string): Promise<ShownAutoTopUp> {
  return withTransaction(database, (client) => readShown(client, accountId));
}

async function readShown(client: PoolClient, accountId: string): Promise<ShownAutoTopUp> {
  const stored = await selectSettings(client, accountId);
  const { charged } = await readHistory(client, accountId, new Date(0));
  return { settings: stored, pausedAt: stored?.pausedAt ?? null, method: await readMethod(client, accountId), charged };
}

/** What an operator sees: the settings, and the order that is open. Null: none is. Errors: NotFound. */
export function inspectAutoTopUp(
  database: Database,
  accountId: string,
): Promise<ShownAutoTopUp & { readonly openOrder: OpenOrder | null }> {
  return withTransaction(database, async (client) => {
    // An order is made and ended behind this lock: what is charged and the open order are of one moment.
    await lockAccount(client, accountId);
    return { ...(await readShown(client, accountId)), openOrder: await selectOpenOrder(client, accountId) };
  });
}

/** Saves the settings of an account, and resumes what refusals had paused. Errors: ValidationError. */
export async function setAutoTopUp(
  database: Database,
  accountId: string,
  written: WrittenAutoTopUp,
): Promise<ShownAutoTopUp> {
  const settings = {
    isOn: written.isOn,
    threshold: amountOf("threshold", written.threshold, WHOLE_RUPIAH),
    amount: amountOf("amount", written.amount, LEAST_AMOUNT),
    monthlyCap: amountOf("monthlyCap", written.monthlyCap, LEAST_AMOUNT),
  };
  await withTransaction(database, async (client) => {
    await lockAccount(client, accountId);
    const { net, tax } = taxedAmountOf(settings.amount, await readTaxRule(client));
    if (settings.monthlyCap < net + tax)
      throw invalid("monthlyCap", `must be at least ${formatMoney(idr(net + tax))}, the amount with its tax`);
    if (settings.isOn && (await readMethod(client, accountId)) === null)
      throw invalid("isOn", "needs a saved payment method");
    await writeSettings(client, accountId, settings);
  });
  return readAutoTopUp(database, accountId);
}

/**
 * Turns automatic top-ups off and keeps the method. An order whose provider was not called is canceled, and no call is made; one that was called
 * goes on. Returns the settings that were on; null: they were off. Errors: NotFound.
 */
export async function turnOffAutoTopUp(client: PoolClient, accountId: string): Promise<AutoTopUpSettings | null> {
  await lockAccount(client, accountId);
  const settings = await selectSettings(client, accountId);
  if (settings?.isOn !== true) return null;
  await turnOff(client, accountId);
  return settings;
}

/** Removes the saved method and turns automatic top-ups off. What is charged already goes on. Returns its label; null: there was none. */
export function removeMethod(database: Database, accountId: string): Promise<string | null> {
  return withTransaction(database, async (client) => {
    await lockAccount(client, accountId);
    const settings = await selectSettings(client, accountId);
    if (settings !== null) await writeSettings(client, accountId, { ...settings, isOn: false });
    return eraseMethod(client, accountId);
  });
}

function amountOf(field: string, text: string, least: bigint): bigint {
  try {
    const { units } = parseMoney(text, IDR);
    if (units >= least && units <= MOST && units % WHOLE_RUPIAH === 0n) return units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  throw invalid(field, `must be whole rupiah from ${formatMoney(idr(least))} to ${formatMoney(idr(MOST))}`);
}

function invalid(field: string, message: string): ValidationError {
  return new ValidationError([{ field: `settings.${field}`, rule: `auto_top_up.${field}`, message }]);
}
