// Every regular expression of the sources, read off their syntax trees, so that none can be left out.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { root } from "../../planted/workshop.ts";

/** A regular expression where it is written. `pattern` is null where the program makes it from other texts. */
export type FoundExpression = { readonly file: string; readonly pattern: string | null; readonly flags: string };

/** The expressions of one source. */
export function expressionsOf(file: string, text: string): FoundExpression[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const found: FoundExpression[] = [];
  const made = ({ callee }: { readonly callee: { readonly type: string; readonly name?: unknown } }): void => {
    if (callee.type === "Identifier" && callee.name === "RegExp") found.push({ file, pattern: null, flags: "" });
  };
  new Visitor({
    Literal(node) {
      if ("regex" in node) found.push({ file, ...node.regex });
    },
    NewExpression: made,
    CallExpression: made,
  }).visit(program);
  return found;
}

/** The sources that are served or run, without their tests. */
export function sourceFiles(): string[] {
  return globSync("src/**/*.{ts,tsx,js}", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .toSorted();
}

export function readSource(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
