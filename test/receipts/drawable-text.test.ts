// The list of characters that documents can show is that of their fonts.

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isDrawable } from "../../src/billing/documents/drawable-text.ts";
import { FONT_FILES } from "../../src/billing/documents/draw-document.ts";

type Fonts = { readonly openSync: (file: string) => { readonly characterSet: readonly number[] } };

/** As pdfkit reads them. */
const { openSync } = createRequire(import.meta.resolve("pdfkit"))("fontkit") as Fonts;
/** Controls, surrogates, and code points whose look no standard names. */
const NO_CHARACTER = /[\p{C}\p{Zl}\p{Zp}]/u;

it("says of each code point whether all fonts of documents have it", () => {
  const fonts = Object.values(FONT_FILES).map(
    (file) => new Set(openSync(fileURLToPath(import.meta.resolve(file))).characterSet),
  );
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const isThere = fonts.every((font) => font.has(code)) && !NO_CHARACTER.test(character);
    if (isDrawable(character) !== isThere) wrong.push(code.toString(16));
  }
  expect(fonts.every(({ size }) => size > 2_000)).toBe(true);
  expect(wrong).toEqual([]);
});
