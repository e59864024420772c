// Who sells and who buys, as a receipt names them.

import { hasUnprintable } from "../../kernel/unprintable.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { drawableText, undrawableIn } from "../documents/drawable-text.ts";

/** The seller or the buyer on a receipt. What is empty is not known. */
export type Party = {
  readonly name: string;
  /** Lines are divided by line feeds. */
  readonly address: string;
  /** The taxpayer's number, its digits only. */
  readonly npwp: string;
};

export const NOBODY: Party = { name: "", address: "", npwp: "" };

const MOST_NAME = 120;
const MOST_ADDRESS = 400;
const MOST_LINES = 6;
/** A refusal names so many characters: a name in another script has many. */
const MOST_NAMED = 5;
/** Fifteen digits until 2024, sixteen since, and six more for a branch. */
const NPWP = /^(\d{15}|\d{16}|\d{22})$/;
/** What people write between the digits. */
const BETWEEN_DIGITS = /[\s.-]/g;

/**
 * Reads a party as a person has typed it. Errors: ValidationError, which names the field below `field`, and characters that receipts
 * cannot print.
 */
export function readParty(typed: Party, field: string): Party {
  // A letter and its accent are one character, as the fonts have it.
  const name = typed.name.normalize("NFC").trim();
  const lines = typed.address.normalize("NFC").replaceAll("\r\n", "\n").split("\n");
  const address = lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
  const npwp = typed.npwp.replaceAll(BETWEEN_DIGITS, "");
  const path = (part: string): string => (field === "" ? part : `${field}.${part}`);
  const refuse = (part: string, message: string, rule = part): ValidationError =>
    new ValidationError([{ field: path(part), rule: `receipt.${rule}`, message }]);
  if (name.length > MOST_NAME || hasUnprintable(name)) throw refuse("name", `must be one line of at most ${MOST_NAME}`);
  if (
    address.length > MOST_ADDRESS ||
    address.split("\n").length > MOST_LINES ||
    hasUnprintable(address.replaceAll("\n", " "))
  )
    throw refuse("address", `must be at most ${MOST_LINES} lines and ${MOST_ADDRESS} characters`);
  for (const [part, text] of Object.entries({ name, address: address.replaceAll("\n", " ") })) {
    const unknown = undrawableIn(text);
    if (unknown.length > 0)
      throw refuse(part, `has characters that receipts cannot print: ${listed(unknown)}`, "characters");
  }
  if (npwp !== "" && !NPWP.test(npwp)) throw refuse("npwp", "must be 15, 16 or 22 digits");
  if (name === "" && (address !== "" || npwp !== "")) throw refuse("name", "must be given with an address or an NPWP");
  return { name, address, npwp };
}

/**
 * A party as a receipt can print it: characters that the fonts lack are marked. Names that were stored before such characters were refused
 * have them. `contact` is the first line below a marked name, which alone would not show who it is.
 */
export function printedParty({ name, address, npwp }: Party, contact = ""): Party {
  const lines = address.split("\n");
  const isMarked = drawableText(name) !== name;
  return {
    name: drawableText(name),
    address: (isMarked && contact !== "" ? [contact, ...lines] : lines)
      .filter((line) => line !== "")
      .map(drawableText)
      .join("\n"),
    npwp,
  };
}

function listed(characters: readonly string[]): string {
  const named = characters.slice(0, MOST_NAMED).map((character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `${character} (U+${code})`;
  });
  return [...named, ...(characters.length > MOST_NAMED ? ["…"] : [])].join(", ");
}

/** The number as it is written on paper: groups for 15 digits, else groups of four. */
export function npwpText(npwp: string): string {
  const old = /^(\d\d)(\d{3})(\d{3})(\d)(\d{3})(\d{3})$/.exec(npwp);
  if (old !== null) return `${old[1]}.${old[2]}.${old[3]}.${old[4]}-${old[5]}.${old[6]}`;
  return npwp.replaceAll(/(\d{4})(?=\d)/g, "$1 ");
}

/** A party's lines on paper: its name first. */
export function partyLines(party: Party, npwpLabel: string): string[] {
  const { name, address, npwp } = printedParty(party);
  const lines = [name, ...address.split("\n")];
  return [...lines, npwp === "" ? "" : `${npwpLabel} ${npwpText(npwp)}`].filter((line) => line !== "");
}
