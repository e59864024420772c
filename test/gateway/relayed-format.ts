// A stream of one protocol as its client sees it, relayed from packets without a database.

import type { AnswerEvent } from "../../src/gateway/conversation/answer-events.ts";
import type { AnswerFormat } from "../../src/gateway/formats/answer-format.ts";
import type { NativeClient } from "../../src/gateway/formats/shown-format.ts";
import type { BilledUsage } from "../../src/gateway/metering/bill.ts";
import { RelayedOutput } from "../../src/gateway/metering/relayed-output.ts";
import { parseObject } from "../../src/gateway/request/parse-object.ts";
import { OutputLimit } from "../../src/gateway/stream/output-limit.ts";
import { StreamRelay } from "../../src/gateway/stream/relay-stream.ts";

/** The names that clients see. */
export const SHOWN_NAMES = { id: "ours-1", model: "acme/model" };

/** A bill whose counts are in no fixture. */
export const BILLED: BilledUsage = {
  counts: { inputTokensUncached: 101, inputTokensCached: 31, outputTokens: 17 },
  basis: "exact",
  clamped: false,
  settled: { cost: 1_500_000n, charge: 1_500_000n },
  reasoningTokens: 3,
  isAsReported: false,
};

/** What of a stream was shown before its settlement, and what behind it. Null: it did not come to its end. */
export type Relayed = { readonly before: Buffer; readonly after: Buffer | null; readonly usage: unknown };

/** Relays the packets of a stream. `native`: to a client of the same protocol. */
export async function relayed(
  format: AnswerFormat,
  packets: readonly Buffer[],
  native?: NativeClient,
): Promise<Relayed> {
  const shown: Buffer[] = [];
  const output = new RelayedOutput(format);
  const stream = format.openStream({ names: SHOWN_NAMES, wantsUsage: true, native });
  const relay = new StreamRelay({
    sink: {
      begin() {},
      answer() {},
      // Bytes are reused for later events.
      pass: (bytes) => shown.push(Buffer.from(bytes)) > 0,
      keepAlive() {},
      end() {},
      fail() {},
      onDrained() {},
      onGone() {},
    },
    begin() {},
    output,
    format,
    stream,
    limit: new OutputLimit({ bound: 100_000, output }),
    gate: null,
    term: { isOver: () => false },
  });
  relay.onAnswer({ isEventStream: true, upstreamRequestId: null });
  for (const packet of packets) relay.onData(packet);
  relay.onEnd();
  const end = await relay.ended;
  output.forget();
  const before = Buffer.concat(shown);
  if (end.kind === "complete") return { before, after: stream.complete(end.held, BILLED), usage: end.usage.usage };
  return { before, after: null, usage: null };
}

/** The events of an answer in no protocol's own form, as sinks of other protocols read them. */
export function eventsOf(format: AnswerFormat, bytes: Buffer): AnswerEvent[] {
  const reader = format.openReader("upstream-1");
  const parts = format.chunksIn(bytes).map((json) => parseObject(json) ?? {});
  return [...parts.flatMap((part) => reader.read(part)), ...reader.end()];
}
