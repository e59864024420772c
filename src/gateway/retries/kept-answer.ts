// An answer that is kept for a retry, and its bytes.

import type { ShownFormat } from "../formats/shown-format.ts";
import { formatNamed } from "../formats/formats.ts";
import type { ProtocolName } from "../formats/protocol-name.ts";

/** The facts of an answer beside its bytes: whether the demo upstream answered, and which one did. */
type Facts = { readonly demo: boolean; readonly origin: string; readonly streamed: boolean };

/** An answer as it was handed to its client: one JSON text, or all events of a stream without the mark behind them. */
export type KeptAnswer = Facts & { readonly bytes: Buffer; readonly format: ShownFormat };

/** What is kept before the bytes, as one line of JSON. */
type KeptFacts = Facts & { readonly protocol: ProtocolName };

const OPEN_BRACE = 0x7b;
const LF = 0x0a;

/** An answer in one buffer. */
export function writeKeptAnswer({ demo, origin, streamed, bytes, format }: KeptAnswer): Buffer {
  const facts: KeptFacts = { demo, origin, streamed, protocol: format.protocol };
  return Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), bytes]);
}

/** Null: older code wrote the bytes in another form. */
export function readKeptAnswer(kept: Buffer): KeptAnswer | null {
  if (kept[0] !== OPEN_BRACE) return null;
  const end = kept.indexOf(LF);
  const { protocol, ...facts } = JSON.parse(kept.toString("utf8", 0, end)) as KeptFacts;
  const format = formatNamed(protocol);
  return format === null ? null : { ...facts, bytes: kept.subarray(end + 1), format };
}
