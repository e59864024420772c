// An amount of whole rupiah in words, as receipts have it (terbilang). Exact for all amounts below 10^18.

import { invariant } from "../../kernel/invariant.ts";
import type { Language } from "../../kernel/preferred-language.ts";

const THOUSAND = 1_000n;
const MOST = 10n ** 18n;

const INDONESIAN = {
  units: ["", "satu", "dua", "tiga", "empat", "lima", "enam", "tujuh", "delapan", "sembilan", "sepuluh", "sebelas"],
  scales: ["", "ribu", "juta", "miliar", "triliun", "kuadriliun"],
} as const;
const ENGLISH = {
  units:
    " one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
      " ",
    ),
  tens: ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"],
  scales: ["", "thousand", "million", "billion", "trillion", "quadrillion"],
} as const;

/** `tiga puluh satu ribu lima ratus rupiah`, or the same in English. */
export function rupiahInWords(rupiah: bigint, language: Language): string {
  invariant(rupiah >= 0n && rupiah < MOST, "an amount in words is below 10^18");
  const words = language === "id" ? inIndonesian(rupiah) : inEnglish(rupiah);
  return `${words.join(" ")} rupiah`;
}

function inIndonesian(rupiah: bigint): string[] {
  if (rupiah === 0n) return ["nol"];
  return groupsOf(rupiah).flatMap(({ value, scale }) => {
    // One thousand has a word of its own; one million has not.
    if (scale === 1 && value === 1) return ["seribu"];
    return [...indonesianGroup(value), INDONESIAN.scales[scale] ?? ""].filter((word) => word !== "");
  });
}

function indonesianGroup(value: number): string[] {
  const hundreds = Math.floor(value / 100);
  const rest = value % 100;
  const words = hundreds === 0 ? [] : hundreds === 1 ? ["seratus"] : [INDONESIAN.units[hundreds] ?? "", "ratus"];
  if (rest < 12) return [...words, INDONESIAN.units[rest] ?? ""];
  if (rest < 20) return [...words, INDONESIAN.units[rest - 10] ?? "", "belas"];
  return [...words, INDONESIAN.units[Math.floor(rest / 10)] ?? "", "puluh", INDONESIAN.units[rest % 10] ?? ""];
}

function inEnglish(rupiah: bigint): string[] {
  if (rupiah === 0n) return ["zero"];
  return groupsOf(rupiah).flatMap(({ value, scale }) =>
    [...englishGroup(value), ENGLISH.scales[scale] ?? ""].filter((word) => word !== ""),
  );
}

function englishGroup(value: number): string[] {
  const hundreds = Math.floor(value / 100);
  const rest = value % 100;
  const words = hundreds === 0 ? [] : [ENGLISH.units[hundreds] ?? "", "hundred"];
  if (rest < 20) return [...words, ENGLISH.units[rest] ?? ""];
  const parts = [ENGLISH.tens[Math.floor(rest / 10)] ?? "", ENGLISH.units[rest % 10] ?? ""];
  return [...words, parts.filter((word) => word !== "").join("-")];
}

/** The groups of three digits that are not zero, the highest first. */
function groupsOf(rupiah: bigint): { value: number; scale: number }[] {
  const groups: { value: number; scale: number }[] = [];
  for (let rest = rupiah, scale = 0; rest > 0n; rest /= THOUSAND, scale += 1) {
    const value = Number(rest % THOUSAND);
    if (value > 0) groups.unshift({ value, scale });
  }
  return groups;
}
