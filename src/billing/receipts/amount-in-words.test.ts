import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rupiahInWords } from "./amount-in-words.ts";

const BOUND = 10n ** 18n;
/** All sizes are as likely: a number of digits first. */
const amounts = fc
  .integer({ min: 1, max: 18 })
  .chain((digits) => fc.bigInt(0n, 10n ** BigInt(digits) - 1n))
  .filter((rupiah) => rupiah < BOUND);

const INDONESIAN_DIGITS = "nol satu dua tiga empat lima enam tujuh delapan sembilan".split(" ");
const INDONESIAN_SCALES = new Map([
  ["ribu", 10n ** 3n],
  ["juta", 10n ** 6n],
  ["miliar", 10n ** 9n],
  ["triliun", 10n ** 12n],
  ["kuadriliun", 10n ** 15n],
]);

/** Reads the words back, as a reader does: left to right, with a part below a thousand that the next scale ends. */
function readIndonesian(text: string): bigint {
  let [whole, part, digit] = [0n, 0n, 0n];
  const endDigit = () => ([part, digit] = [part + digit, 0n]);
  for (const word of text.replace(/ rupiah$/, "").split(" ")) {
    const scale = INDONESIAN_SCALES.get(word);
    if (scale !== undefined) {
      endDigit();
      [whole, part] = [whole + part * scale, 0n];
    } else if (word === "seribu") whole += 1_000n;
    else if (word === "seratus") part += 100n;
    else if (word === "sepuluh") part += 10n;
    else if (word === "sebelas") part += 11n;
    else if (word === "belas") [part, digit] = [part + 10n + digit, 0n];
    else if (word === "puluh") [part, digit] = [part + digit * 10n, 0n];
    else if (word === "ratus") [part, digit] = [part + digit * 100n, 0n];
    else {
      const value = INDONESIAN_DIGITS.indexOf(word);
      if (value === -1) throw new Error(`"${word}" is no number`);
      endDigit();
      digit = BigInt(value);
    }
  }
  endDigit();
  return whole + part;
}

const ENGLISH_UNITS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ENGLISH_SCALES = ["thousand", "million", "billion", "trillion", "quadrillion"];

function readEnglish(text: string): bigint {
  let [whole, part] = [0n, 0n];
  for (const word of text.replace(/ rupiah$/, "").split(/[ -]/)) {
    const [unit, ten, scale] = [ENGLISH_UNITS, ENGLISH_TENS, ENGLISH_SCALES].map((words) => words.indexOf(word));
    if (unit !== undefined && unit >= 0) part += BigInt(unit);
    else if (ten !== undefined && ten >= 0) part += BigInt(ten + 2) * 10n;
    else if (word === "hundred") part *= 100n;
    else if (scale !== undefined && scale >= 0) [whole, part] = [whole + part * 1_000n ** BigInt(scale + 1), 0n];
    else throw new Error(`"${word}" is no number`);
  }
  return whole + part;
}

describe("an amount in words", () => {
  it.each([
    ["id", readIndonesian],
    ["en", readEnglish],
  ] as const)("in %s is read back as the same amount, for all amounts", (language, read) => {
    fc.assert(
      fc.property(amounts, (rupiah) => {
        const words = rupiahInWords(rupiah, language);
        expect(words).toMatch(/^[a-z]+([ -][a-z]+)* rupiah$/);
        expect(read(words), words).toBe(rupiah);
      }),
      { numRuns: 3_000 },
    );
  });

  it("in Indonesian has se- for one hundred and one thousand, and nowhere else", () => {
    fc.assert(
      fc.property(amounts, (rupiah) => {
        expect(rupiahInWords(rupiah, "id")).not.toMatch(
          /\bsatu (ratus|puluh|belas)\b|^satu ribu\b|(juta|miliar|triliun) satu ribu\b/,
        );
      }),
    );
  });

  it.each([
    [0n, "nol rupiah", "zero rupiah"],
    [11n, "sebelas rupiah", "eleven rupiah"],
    [1_000n, "seribu rupiah", "one thousand rupiah"],
    [10_000n, "sepuluh ribu rupiah", "ten thousand rupiah"],
    [101_115n, "seratus satu ribu seratus lima belas rupiah", "one hundred one thousand one hundred fifteen rupiah"],
    [1_001_000n, "satu juta seribu rupiah", "one million one thousand rupiah"],
    [27_750n, "dua puluh tujuh ribu tujuh ratus lima puluh rupiah", "twenty-seven thousand seven hundred fifty rupiah"],
    [1_000_000_000n, "satu miliar rupiah", "one billion rupiah"],
  ])("of %d is %s", (rupiah, indonesian, english) => {
    expect([rupiahInWords(rupiah, "id"), rupiahInWords(rupiah, "en")]).toEqual([indonesian, english]);
  });
});
