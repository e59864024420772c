// Characters that print nothing of their own: controls, line separators, and marks that are not seen or turn the direction of a text. With
// them a line could read otherwise than it is stored, and a terminal would act on them. `saldo-agents`, which is published alone, has its own.

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Whether a text has such a character. A line feed is one. */
export function hasUnprintable(text: string): boolean {
  return text.search(UNPRINTABLE) !== -1;
}

/** The text with each such character spelled out, as `\\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
