// Decimals in text: the only way an amount enters or leaves the service.

/** The grammar of an amount: plain or exponent form of a non-negative JSON number. */
const DECIMAL = /^(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const MAX_TEXT_LENGTH = 64;
const MAX_EXPONENT = 40;

/** Why a text is not an amount: not a decimal at all, or finer than the asset is kept. */
export class DecimalError extends Error {
  readonly reason: "not_a_decimal" | "too_precise";
  constructor(reason: "not_a_decimal" | "too_precise", message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Reads a non-negative decimal as a whole number of units of 10^-scale. Zeros behind the last digit do not count as
 * precision: `5` and `5.0` are the same. Errors: DecimalError.
 */
export function parseDecimal(text: string, scale: number): bigint {
  const match = text.length <= MAX_TEXT_LENGTH ? DECIMAL.exec(text) : null;
  if (match === null) throw new DecimalError("not_a_decimal", "must be a decimal number in plain digits");
  const [, whole = "0", fraction = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) {
    throw new DecimalError("not_a_decimal", `must have an exponent between -${MAX_EXPONENT} and ${MAX_EXPONENT}`);
  }
  // value = digits × 10^shift units; a negative shift may only drop zeros.
  const digits = BigInt(whole + fraction);
  const shift = exponent - fraction.length + scale;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  if (digits % divisor !== 0n) throw new DecimalError("too_precise", `must have at most ${scale} decimals`);
  return digits / divisor;
}

/** Plain digits, no exponent, no trailing zeros: `formatDecimal(6_500_000n, 6)` is `6.5`. */
export function formatDecimal(units: bigint, scale: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/(?<!0)0+$/, "");
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
}
