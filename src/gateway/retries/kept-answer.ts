// An answer that is kept for a retry, and its bytes.

import type { StreamEnding } from "../chat.ts";

/** An answer as it was handed to its client. `demo`: whether the demo upstream answered. */
export type KeptAnswer = { readonly demo: boolean } & (
  | { readonly streamed: false; readonly json: Buffer }
  | ({ readonly streamed: true } & Pick<StreamEnding, "passed" | "closing">)
);

/** What is kept beside the bytes, one line of JSON before them. `closing` null: the answer was not streamed. */
type Facts = { readonly demo: boolean; readonly closing: readonly string[] | null };

const OPEN_BRACE = 0x7b;
const LF = 0x0a;

export function writeKeptAnswer(answer: KeptAnswer): Buffer {
  const facts: Facts = { demo: answer.demo, closing: answer.streamed ? answer.closing : null };
  return Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), answer.streamed ? answer.passed : answer.json]);
}

/** Null: older code wrote the bytes in another form. */
export function readKeptAnswer(bytes: Buffer): KeptAnswer | null {
  if (bytes[0] !== OPEN_BRACE) return null;
  const end = bytes.indexOf(LF);
  const { demo, closing } = JSON.parse(bytes.toString("utf8", 0, end)) as Facts;
  const rest = bytes.subarray(end + 1);
  return closing === null ? { demo, streamed: false, json: rest } : { demo, streamed: true, passed: rest, closing };
}
