// The demo's vectors: the same text has the same vector for ever, and texts with words in common have similar ones.

import { createHash } from "node:crypto";
import { isObject } from "../../request/field-rules.ts";
import { countDemoTokens } from "./demo-tokens.ts";

const DIMENSIONS = 64;
const MAX_DIMENSIONS = 1_024;

/** The answer to a body, as one JSON text; null where it is none that the demo understands. */
export function demoEmbeddings(model: string, body: Buffer): string | null {
  const read = readBody(body);
  if (read === null) return null;
  const tokens = read.inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  return JSON.stringify({
    object: "list",
    data: read.inputs.map((input, index) => ({ object: "embedding", index, embedding: vectorOf(input, read) })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

type Input = string | readonly number[];
type DemoEmbeddings = { readonly inputs: readonly Input[]; readonly dimensions: number; readonly asBase64: boolean };

function readBody(body: Buffer): DemoEmbeddings | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return null; // The gateway looks at structure only; inside its strings a body may still be no JSON.
  }
  if (!isObject(parsed)) return null;
  const { input, dimensions, encoding_format: encoding } = parsed;
  const isOne = typeof input === "string" || (Array.isArray(input) && typeof input[0] === "number");
  return {
    inputs: (isOne ? [input] : input) as readonly Input[],
    dimensions: Math.min(typeof dimensions === "number" ? dimensions : DIMENSIONS, MAX_DIMENSIONS),
    asBase64: encoding === "base64",
  };
}

function tokensOf(input: Input): number {
  return typeof input === "string" ? countDemoTokens(input) : input.length;
}

/** The sum of a vector for each word, of length 1. */
function vectorOf(input: Input, { dimensions, asBase64 }: DemoEmbeddings): number[] | string {
  const words = typeof input === "string" ? input.toLowerCase().split(/\s+/) : input.map(String);
  const sum = new Float32Array(dimensions);
  for (const word of words) {
    const hash = createHash("shake256", { outputLength: dimensions }).update(word).digest();
    for (const [at, byte] of hash.entries()) sum[at] = (sum[at] ?? 0) + byte - 127.5;
  }
  const length = Math.hypot(...sum);
  const vector = sum.map((number) => number / length);
  if (!asBase64) return [...vector];
  const bytes = Buffer.alloc(dimensions * 4);
  for (const [at, number] of vector.entries()) bytes.writeFloatLE(number, at * 4);
  return bytes.toString("base64");
}
