// One request of the matrix, whose charge and shown usage are compared with what the upstream counted.

import { expect } from "vitest";
import type { Given, MatrixClient } from "./matrix-client.ts";
import { type MatrixUpstream, type startMatrix, trueCost } from "./matrix-upstreams.ts";
import type { Bench } from "./support.ts";

export type Pair = { readonly client: MatrixClient; readonly upstream: MatrixUpstream; readonly bench: Bench };
type Matrix = Awaited<ReturnType<typeof startMatrix>>;

/** Asks, and requires that the last charge, and the usage that is shown, are what the upstream counted. */
export async function askAndCompare(
  matrix: Matrix,
  { client, upstream, bench }: Pair,
  { body, stream }: { readonly body: object; readonly stream: boolean },
): Promise<{ readonly given: Given; readonly costIdr: string }> {
  const given = await client.send(bench, body as Record<string, unknown>, { model: `acme/${upstream.kind}`, stream });
  expect(given).toMatchObject({ outcome: "answered", error: null });
  const truth = matrix.truthOf(upstream.kind);
  const settled = bench.ledger.settlements.at(-1);
  if (truth === undefined || settled === undefined) throw new Error("nothing was answered");
  expect(settled).toMatchObject({ basis: "exact", clamped: false, cost: trueCost(truth) });
  expect(settled).toMatchObject({
    inputTokensUncached: truth.plain,
    inputTokensCached: truth.cached,
    outputTokens: truth.output,
  });
  const { cacheWrite = 0, cacheWrite1h = 0 } = settled.otherTokens ?? {};
  expect({ cacheWrite, cacheWrite1h }).toEqual({ cacheWrite: truth.written, cacheWrite1h: truth.written1h });
  const { usage } = client.shown(given);
  const { plain, cached, written, written1h, output, reasoning } = truth;
  const writes = client.name === "chat" || client.name === "messages" ? { written, written1h } : {};
  expect(usage).toMatchObject({ input: plain + cached + written + written1h, cached, output, reasoning, ...writes });
  expect(Number(usage?.costIdr) * 1e6).toBeCloseTo(Number(settled.cost), 0);
  expect(bench.ledger.open.size).toBe(0);
  return { given, costIdr: String(usage?.costIdr) };
}
