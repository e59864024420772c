import { isBillingDay } from "../kernel/clock.ts";
import { DecimalError } from "../kernel/decimal.ts";
import { isUuid } from "../kernel/ids.ts";
import { IDR, parseMoney } from "../kernel/money.ts";
import { coins } from "../merchant/chains/currencies.ts";
import { MAX_AMOUNT } from "../operator/commands/accounts.ts";
import { UsageError } from "./command.ts";

/** What is offered for currencies and their networks. */
export const CURRENCIES = [...new Set(coins.map(({ currencyCode }) => currencyCode))];
export const NETWORKS = [...new Set(coins.map(({ network }) => network))];

/** A UUID from the command line. Errors: UsageError. */
export function uuidOption(value: string, option: string): string {
  if (!isUuid(value)) throw new UsageError(`--${option} must be a UUID`);
  return value.toLowerCase();
}

/** A whole number from the command line. Errors: UsageError. */
export function integerOption(value: string, option: string, { min, max }: { min: number; max: number }): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max))
    throw new UsageError(`--${option} must be a whole number from ${min} to ${max}`);
  return number;
}

/** One of a few words from the command line. Errors: UsageError. */
export function choiceOption<Choice extends string>(value: string, option: string, choices: readonly Choice[]): Choice {
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw new UsageError(`--${option} must be ${choices.join(" or ")}`);
  return chosen;
}

/** A billing day from the command line. Errors: UsageError. */
export function dayOption(value: string, option: string): string {
  if (!isBillingDay(value)) throw new UsageError(`--${option} must be a day such as 2026-11-21`);
  return value;
}

/** Rupiah from the command line, in micro-rupiah. `least`: the least that is taken, in micro-rupiah. Errors: UsageError. */
export function amountOption(value: string, option = "amount", least: 0n | 1n = 1n): bigint {
  // In Indonesia a point groups thousands; a fourth decimal, or none, makes clear what is meant.
  const [, before, behind] = /^([1-9]\d{0,2})\.(\d{3})$/.exec(value) ?? [];
  if (before !== undefined && behind !== undefined)
    throw new UsageError(`--${option} ${value}: write ${before}${behind}, or ${value}0 for a part of a rupiah`);
  try {
    const { units } = parseMoney(value, IDR);
    if (units >= least && units <= MAX_AMOUNT) return units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  const from = least === 0n ? "from 0 to" : "greater than 0, at most";
  throw new UsageError(`--${option} must be rupiah ${from} 1000000000000, with at most 6 decimals`);
}

/** A language of documents. Errors: UsageError. */
export function languageOption(value: string): "id" | "en" {
  if (value !== "id" && value !== "en") throw new UsageError("--language must be id or en");
  return value;
}
