// Words that are not used where a sentence is read without its code: contracts, interfaces, settings, logs, commit subjects.
// The words that are used instead are in .github/GLOSSARY.md.

const UNNAMED = "name the role: a caller, a customer, an operator";
const SPOKEN = "data is returned, recorded, shown or logged";

/** Each word with what is written in its place. */
export const FORBIDDEN_WORDS = new Map([
  ...["nobody", "somebody", "anybody", "everybody", "whoever", "whomever"].map((word) => [word, UNNAMED]),
  ...["told", "tells", "hears", "heard"].map((word) => [word, SPOKEN]),
  ["anew", "again"],
  ["rest face", "REST"],
  ["frost", "freeze"],
  ["loosen", "use fewer, or raise"],
  ["doors", "modules, packages or endpoints"],
  // One word for one thing: the glossary names each of these beside the word that is used.
  ["world", "environment"],
  ["reservation", "hold"],
  ["deposit", "top-up"],
  ["withdrawal", "payout"],
  ["topup", "top-up"],
]);

const FORBIDDEN = new RegExp(`\\b(?:${[...FORBIDDEN_WORDS.keys()].join("|")})s?\\b`, "gi");

/** Every forbidden word of a text, with its replacement. */
export function wordProblems(text) {
  return Array.from(text.matchAll(FORBIDDEN), ([word]) => `"${word}": ${replacementOf(word.toLowerCase())}`);
}

/** A forbidden word is found in its plural, too. */
function replacementOf(word) {
  return FORBIDDEN_WORDS.get(word) ?? FORBIDDEN_WORDS.get(word.slice(0, -1));
}
