// How deep and how wide a JSON body may be. Both are counted before anything parses it: a parser makes an object of each
// bracket, so a body of 32 MiB would cost seconds and hundreds of megabytes.

/** Deeper nesting than this is refused before anything recursive reads it. */
export const MAX_JSON_DEPTH = 64;

/** The most brackets, braces, commas and colons of one body, those inside of strings not counted. */
export const MAX_JSON_TOKENS = 200_000;

/** The rule and the message of a body that has more. */
export const TOO_COMPLEX = tooComplex(MAX_JSON_TOKENS);

/** The same for another bound. */
export function tooComplex(most: number) {
  const message = `The body must not have more than ${most} brackets, commas and colons outside of strings`;
  return { field: "", rule: "too_complex", message } as const;
}
