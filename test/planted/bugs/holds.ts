// Guards of what is held for texts and for media: no honest count is above it.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const texts = (test: string) => ({ file: "test/gateway/texts-within-holds.test.ts", test });
const sizes = (test: string) => ({ file: "src/gateway/admission/hold.test.ts", test });
const DENSE = "request/dense-text.ts";

/** Each with the test that must notice it. */
export const HOLD_BUGS: readonly PlantedBug[] = [
  {
    name: "a hold is sized by the bytes of a text, two for a token",
    edits: [
      gateway(
        "admission/hold.ts",
        "const tokens = denseTokens(request.body, bounds);",
        "const tokens = Math.min(denseTokens(request.body, bounds), Math.ceil(request.body.length / 2));",
      ),
    ],
    noticedBy: texts("of base64, by tokenizers of OpenAI's"),
  },
  {
    name: "digits are held as letters are",
    edits: [gateway(DENSE, 'if (byte >= 0x30 && byte <= 0x39) return "digit";', 'if (byte === 0x30) return "digit";')],
    noticedBy: texts("of digits, by"),
  },
  {
    name: "letters of rare scripts are held as known ones are",
    edits: [gateway(DENSE, "return known?.[3] ?? TOKEN;", "return known?.[3] ?? 2;")],
    noticedBy: texts("of rare Chinese, by"),
  },
  {
    name: "a repeated syllable is held as a common word is",
    edits: [gateway(DENSE, "word === next && word !== FOUR_SPACES", "word !== word")],
    noticedBy: texts("of a syllable again and again, by"),
  },
  {
    name: "an escaped character is held as a word",
    edits: [gateway(DENSE, "units[BACKSLASH | (0x75 << 8)] = 2 * TOKEN;", "units[BACKSLASH | (0x75 << 8)] = 0;")],
    noticedBy: texts("in a body that spells each character by an escape"),
  },
  {
    name: "the hold of the densest tokenizer is that of any other",
    edits: [gateway("admission/hold-additions.ts", "? DENSE_TOKENS_PER_TOKEN : 1", "? 1 : 1")],
    noticedBy: texts("where the model has the tokenizer with the most tokens"),
  },
  {
    name: "the text behind a picture is not held for",
    edits: [
      gateway(
        DENSE,
        "[...without, { start: text.length, end: text.length }]",
        "without.length > 0 ? without : [{ start: text.length, end: text.length }]",
      ),
    ],
    noticedBy: sizes("has all text beside a picture, before and behind it"),
  },
];
