// Amounts of coins as callers send them.

import { DecimalError, formatDecimal, parseDecimal } from "../../kernel/decimal.ts";
import { LimitExceeded, ValidationError } from "../../kernel/errors.ts";
import type { Money } from "../../kernel/money.ts";
import { AmountPrecision } from "../../kernel/transfer-errors.ts";
import { assetOf, type Coin } from "../chains/currencies.ts";

/**
 * The most whole coins of one amount. With the largest fee on top it still fits numeric(38,0) in units of 18 decimals.
 */
export const MAX_AMOUNT_COINS = 10n ** 12n;

/**
 * Reads an amount greater than zero. More decimals than the coin has are refused, never rounded; trailing zeros do not
 * count. Errors: ValidationError, AmountPrecision, LimitExceeded.
 */
export function parseAmount(amountText: string, coin: Coin): Money {
  const units = parseUnits(amountText, coin);
  if (units === 0n) throw invalidAmount("decimal.gt", "must be greater than 0");
  if (units > MAX_AMOUNT_COINS * 10n ** BigInt(coin.decimals)) {
    throw new LimitExceeded(`An amount is at most ${formatDecimal(MAX_AMOUNT_COINS, 0)} ${coin.currencyCode}.`);
  }
  return { units, asset: assetOf(coin) };
}

/** Decimals of every amount that can be written: 64 characters and an exponent of 40. */
export const AMOUNT_TEXT_DECIMALS = 104;

/** Reads an amount greater than zero of any coin, in 10^-104 of a whole one. Errors: ValidationError. */
export function readAmountText(amountText: string): bigint {
  try {
    const value = parseDecimal(amountText, AMOUNT_TEXT_DECIMALS);
    if (value > 0n) return value;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    throw invalidAmount("decimal", error.message, error);
  }
  throw invalidAmount("decimal.gt", "must be greater than 0");
}

function parseUnits(amountText: string, coin: Coin): bigint {
  try {
    return parseDecimal(amountText, coin.decimals);
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    if (error.reason === "too_precise") throw new AmountPrecision(coin);
    throw invalidAmount("decimal", error.message, error);
  }
}

function invalidAmount(rule: string, message: string, cause?: Error): ValidationError {
  return new ValidationError([{ field: "amount", rule, message }], { cause });
}
