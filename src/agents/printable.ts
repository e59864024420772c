// Foreign texts on a terminal: a name from a catalog or a file cannot move the cursor, change colours
// or turn the line around.

// Controls, and what changes the direction of text or is not seen.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The text with everything that a terminal would act on spelled out. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** JSON on one line that a terminal shows as it is. */
export function printableJson(value: unknown): string {
  return printable(JSON.stringify(value));
}

const AMOUNT = /^-?\d{1,20}(?:\.\d{1,20})?$/;

/** An amount in rupiah, or a price per million tokens. What a gateway sends in its place is shown as it came. */
export function rupiah(decimal: string): string {
  if (!AMOUNT.test(decimal)) return printable(decimal.slice(0, 40));
  const [whole = "0", fraction = ""] = decimal.split(".");
  const cents = fraction.replace(/(?<!0)0+$/, "");
  return `Rp ${whole.replaceAll(/\B(?=(\d{3})+$)/g, ".")}${cents === "" ? "" : `,${cents}`}`;
}
