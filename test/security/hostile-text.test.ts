// No text makes the service slow beyond its length. Every regular expression of the sources and of the contracts, and every
// parser, is tried with texts that nearly match everywhere. That the engine's linear mode takes an expression proves nothing for
// the mode that runs: it takes the one that needed a minute for 400 KB of quotes. So each is measured.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../planted/workshop.ts";
import { expressionsOf, type FoundExpression, readSource, sourceFiles } from "./hostile-text/expressions.ts";
import { superLinearGrowth, takesLessThan, type Tried } from "./hostile-text/growth.ts";
import { BOUNDED, MADE } from "./hostile-text/known-expressions.ts";
import { PARSERS } from "./hostile-text/parsers.ts";
import { FEW_HOSTILE_TEXTS, HOSTILE_TEXTS, textsFor } from "./hostile-text/texts.ts";

const MIB = 1_048_576;
/** What is quadratic takes tens of milliseconds there. */
const PARSER: Tried = { characters: 16_384, worthMs: 4 };
/** What is linear reads 1 MiB in a second of a slow machine, what is quadratic in minutes. */
const LONG_TEXT_MS = 5_000;
/** An expression that backtracks shows it here: 8 192 characters in steps of their square are over 10 ms. */
const EXPRESSION: Tried = { characters: 8_192, worthMs: 2 };
/** One that takes exponential time would not end there, and shows it with a few characters. */
const FEW: Tried = { characters: 24, worthMs: 1 };
/** Enough for an expression that is known to backtrack. */
const MEDIUM: Tried = { characters: 2_048, worthMs: 0.5 };
const SHORT: Tried = { characters: 1_024, worthMs: 0.5 };
/** A bounded expression may take this for the longest text that it can meet. */
const BOUNDED_MS = 10;

const found = sourceFiles().flatMap((file) => expressionsOf(file, readSource(file)));

const isBounded = ({ file, pattern }: FoundExpression) =>
  BOUNDED.some((known) => known.file === file && known.pattern === pattern);

/** The first text with which an expression takes more than linear time, and how much; null where there is none. */
function slowTextFor(expression: RegExp, tried: Tried = EXPRESSION): string | null {
  const search = (text: string): void => {
    expression.lastIndex = 0;
    if (expression.global) text.replaceAll(expression, "");
    else expression.test(text);
  };
  for (const text of ["", "a", "aaaa"]) search(text);
  for (const { name, textOf } of textsFor(expression.source)) {
    const growth = superLinearGrowth(search, textOf, FEW) ?? superLinearGrowth(search, textOf, tried);
    if (growth !== null) return `${name}: ${growth}`;
  }
  return null;
}

describe("regular expressions", () => {
  it("of the sources take linear time", () => {
    expect(found.length).toBeGreaterThan(200);
    const tried = new Map(
      found.flatMap((each) =>
        each.pattern === null || isBounded(each) ? [] : [[`/${each.pattern}/${each.flags}`, each] as const],
      ),
    );
    const slow = [...tried].flatMap(([name, { file, pattern, flags }]) => {
      const text = slowTextFor(new RegExp(pattern ?? "", flags));
      return text === null ? [] : [`${file}: ${name} with ${text}`];
    });
    expect(slow).toEqual([]);
  });

  it("that the program makes are known, and take linear time", async () => {
    const made = found.filter(({ pattern }) => pattern === null).map(({ file }) => file);
    expect(made).toEqual(MADE.map(({ file }) => file));
    const examples = await Promise.all(MADE.flatMap(({ example }) => (example === null ? [] : [example()])));
    expect(examples.map((expression) => slowTextFor(expression))).toEqual(examples.map(() => null));
  });

  it.each(BOUNDED)("of $file take little time for their longest text, $longest characters", (known) => {
    const { pattern, longest } = known;
    const flags = found.find((each) => each.file === known.file && each.pattern === pattern)?.flags;
    expect(flags).toBeDefined();
    const tried = { characters: longest, worthMs: BOUNDED_MS };
    expect(slowTextFor(new RegExp(pattern, flags), tried)).toBeNull();
  });

  it("of the contracts take linear time", () => {
    const texts = globSync("proto/saldo/**/*.proto", { cwd: root }).map((file) =>
      readFileSync(join(root, file), "utf8"),
    );
    const quoted = texts.flatMap((text) => [...text.matchAll(/\bpattern\s*[:=]\s*("(?:[^"\\]|\\.)*")/g)]);
    const patterns = new Set(quoted.map(([, literal = ""]) => JSON.parse(literal) as string));
    expect(patterns.size).toBeGreaterThan(8);
    for (const pattern of patterns) expect([pattern, slowTextFor(new RegExp(pattern, "u"))]).toEqual([pattern, null]);
  });

  it("that backtrack are noticed", () => {
    expect(slowTextFor(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs, MEDIUM)).toContain("times as long");
    expect(slowTextFor(/[\w*-]*[\w-]{24,}[\w*-]*/g, SHORT)).not.toBeNull();
    expect(slowTextFor(/^(?:a+)+$/, SHORT)).not.toBeNull();
    expect(expressionsOf("a.ts", "const a = /b/g, c = new RegExp(a), d = RegExp(c);")).toEqual([
      { file: "a.ts", pattern: "b", flags: "g" },
      { file: "a.ts", pattern: null, flags: "" },
      { file: "a.ts", pattern: null, flags: "" },
    ]);
  });
});

describe("parsers", () => {
  it.each(PARSERS)("of hostile text take linear time: $name", ({ read, most }) => {
    const work = (text: string): void => {
      try {
        read(text);
      } catch (error) {
        // Refusing a text is right; running out of the stack while reading it is not.
        if (error instanceof RangeError && error.message.includes("call stack")) throw error;
      }
    };
    const longest = most?.characters ?? MIB;
    for (const { name, textOf } of longest < PARSER.characters ? [] : HOSTILE_TEXTS) {
      expect(`${name}: ${superLinearGrowth(work, textOf, PARSER)}`).toBe(`${name}: null`);
    }
    for (const { name, textOf } of FEW_HOSTILE_TEXTS) {
      const text = textOf(longest);
      expect(`${name}: ${takesLessThan(LONG_TEXT_MS, () => work(text))}`).toBe(`${name}: true`);
    }
  });
});
