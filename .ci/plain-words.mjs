// Words that are not used where a sentence is read without its code (contracts, interfaces, settings, logs, commit subjects),
// and not in comments.
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
  ...["stand", "stood"].map((word) => [word, 'is, lies or comes; "stands for" may stay']),
  // One word for one thing: the glossary names each of these beside the word that is used.
  ["world", "environment"],
  ["reservation", "hold"],
  ["deposit", "top-up"],
  ["withdrawal", "payout"],
  ["topup", "top-up"],
]);

/** Words that no comment has besides. Texts may have them: a page may ask a user to tell an operator. */
export const FORBIDDEN_IN_COMMENTS = new Map([
  ...FORBIDDEN_WORDS,
  ...["say", "said", "tell", "telling", "hear"].map((word) => [word, SPOKEN]),
  ...["he", "his", "him"].map((word) => [word, UNNAMED]),
  ["door", "a module, package or endpoint"],
]);

/** Every forbidden word of a text, with its replacement. */
export function wordProblems(text, words = FORBIDDEN_WORDS) {
  const forbidden = new RegExp(`\\b(?:${[...words.keys()].map(patternOf).join("|")})s?\\b`, "gi");
  return Array.from(text.matchAll(forbidden), ([word]) => `"${word}": ${replacementOf(word.toLowerCase(), words)}`);
}

/** A sign stands for something, and a stand-in is a thing. */
function patternOf(word) {
  return word === "stand" ? "stand(?!s? for\\b|-)" : word;
}

/** A forbidden word is found in its plural, too. */
function replacementOf(word, words) {
  return words.get(word) ?? words.get(word.slice(0, -1));
}
