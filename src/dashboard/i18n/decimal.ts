// Adds decimal strings. Displayed sums come from the server; this is only for sums of the page itself, such as the
// models that have no colour in a chart.

/** A decimal string such as `26.77`; Intl formats it digit for digit. */
export type Decimal = string;

/** The decimals of rupiah in the ledger. */
const SCALE = 6;

/** The exact sum. */
export function sumOf(amounts: readonly Decimal[]): Decimal {
  return decimalOf(amounts.reduce((sum, amount) => sum + unitsOf(amount), 0n));
}

/** Millionths of a rupiah as a decimal string; or units with so many decimals. */
export function decimalOf(units: bigint, scale = SCALE): Decimal {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const fraction = digits.slice(-scale).replace(/(?<!0)0+$/, "");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -scale)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** A number for the height of a bar: precise enough to draw, never displayed. */
export function heightOf(amount: Decimal): number {
  return Number(amount);
}

/** Orders larger amounts first. */
export function byAmount(one: Decimal, other: Decimal): number {
  const difference = unitsOf(other) - unitsOf(one);
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

/** Whether one amount of coins is larger than another, whatever their decimals. */
export function isMore(one: Decimal, other: Decimal): boolean {
  const scale = Math.max(...[one, other].map((amount) => fractionOf(amount).length));
  const [a = 0n, b = 0n] = [one, other].map((amount) =>
    BigInt((amount.split(".")[0] ?? "") + fractionOf(amount).padEnd(scale, "0")),
  );
  return a > b;
}

function fractionOf(amount: Decimal): string {
  return amount.split(".")[1] ?? "";
}

/** An amount in millionths of a rupiah. */
export function unitsOf(amount: Decimal): bigint {
  const found = /^(-?)(\d+)(?:\.(\d{1,6})0*)?$/.exec(amount);
  if (found === null) throw new RangeError(`not an amount of rupiah: ${amount}`);
  const [, sign, whole = "0", fraction = ""] = found;
  const units = BigInt(whole + fraction.padEnd(SCALE, "0"));
  return sign === "-" ? -units : units;
}
