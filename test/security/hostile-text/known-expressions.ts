// The regular expressions that are not tried with any text: what keeps their texts short, or what the program makes them of.

import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { root } from "../../planted/workshop.ts";

/** An expression that takes more than linear time, and the longest text that it can meet. */
export type BoundedExpression = {
  readonly file: string;
  readonly pattern: string;
  readonly longest: number;
  readonly why: string;
};

const GROUPS = String.raw`\B(?=(\d{3})+$)`;

export const BOUNDED: readonly BoundedExpression[] = [
  { file: "src/kernel/rupiah-text.ts", pattern: GROUPS, longest: 40, why: "digits of an amount of ours" },
  {
    file: "src/transport/web/sandbox-payment-page.ts",
    pattern: GROUPS,
    longest: 40,
    why: "digits of an amount of ours",
  },
  {
    file: "src/agents/printable.ts",
    pattern: GROUPS,
    longest: 41,
    why: "the pattern in front of it takes 41 characters",
  },
  {
    file: "src/gateway/upstreams/http/refusals.ts",
    pattern: String.raw`(?:exceed|maximum|longer|larger|greater|too (?:long|large)|limit|only)[^]*context[ _-]?(?:length|window|size|limit)`,
    longest: 2_000,
    why: "refusalReason cuts the messages of an upstream to 2 000 characters",
  },
  {
    file: "src/gateway/upstreams/http/refusals.ts",
    pattern: String.raw`context[ _-]?(?:length|window|size|limit)[^]*(?:exceed|maximum|longer|larger|greater|too (?:long|large)|limit|only)`,
    longest: 2_000,
    why: "refusalReason cuts the messages of an upstream to 2 000 characters",
  },
];

/** An expression that the program makes, as it makes it, or why it meets no foreign text. */
export type MadeExpression = {
  readonly file: string;
  readonly example: (() => Promise<RegExp>) | null;
  readonly why: string;
};

export const MADE: readonly MadeExpression[] = [
  {
    file: "src/agents/hidden-keys.ts",
    example: () => Promise.resolve(/gw_aaaa\.aaaa/gi),
    why: "a key of the command line, every character of it escaped: a plain text to search",
  },
  {
    file: "src/gateway/metering/estimate.ts",
    example: async () =>
      ((await import(pathToFileURL(join(root, "src/gateway/metering/estimate.ts")).href)) as { SHORT_TEXT: RegExp })
        .SHORT_TEXT,
    why: "the names of the members that hold text",
  },
  {
    file: "src/transport/openapi/rules.ts",
    example: null,
    why: "patterns of the contracts with an empty text, when the documentation is generated",
  },
];
