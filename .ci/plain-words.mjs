// Words that are not used where a sentence is read without its code: contracts, interfaces, settings, logs, commit subjects.
// The words that are used instead are in .github/GLOSSARY.md.

const UNNAMED = "name the role: a caller, a customer, an operator";
const SPOKEN = "data is returned, recorded, shown or logged";

/** Each word with what is written in its place. */
export const FORBIDDEN_WORDS = new Map([
  ...["nobody", "somebody", "anybody", "everybody", "whoever", "whomever"].map((word) => [word, UNNAMED]),
  ...["told", "hears", "heard"].map((word) => [word, SPOKEN]),
  ["anew", "again"],
  ["doors", "modules, packages or endpoints"],
]);

const FORBIDDEN = new RegExp(`\\b(?:${[...FORBIDDEN_WORDS.keys()].join("|")})\\b`, "gi");

/** Every forbidden word of a text, with its replacement. */
export function wordProblems(text) {
  return Array.from(text.matchAll(FORBIDDEN), ([word]) => `"${word}": ${FORBIDDEN_WORDS.get(word.toLowerCase())}`);
}
