import { describe, expect, it } from "vitest";
import {
  meteringColumn,
  type MeteringJson,
  otherPricesColumn,
  type OtherPricesJson,
  otherTokensColumn,
  type OtherTokensJson,
  readMetering,
  readOtherPrices,
  readOtherTokens,
} from "./token-columns.ts";

/** The value that a column of the type jsonb returns. */
function stored(text: string | null): unknown {
  return JSON.parse(text ?? "null");
}

describe("columns of the rarer kinds of tokens and prices", () => {
  it("are null for a plain request", () => {
    expect(otherTokensColumn({ otherTokens: { cacheWrite: 0 } })).toBeNull();
    expect(otherTokensColumn({})).toBeNull();
    expect(otherPricesColumn({ other: null })).toBeNull();
    expect(otherPricesColumn({ other: { longContext: [] } })).toBeNull();
    expect(meteringColumn({ metering: { rules: [] } })).toBeNull();
    expect([readOtherTokens(null), readOtherPrices(null), readMetering(null)]).toEqual([null, null, null]);
  });

  it("keep why a request failed, alone or beside its counts", () => {
    const failure = { code: "upstream_busy", inStream: true } as const;
    for (const metering of [
      { failure },
      { failure: { code: "client_left", inStream: false } as const, rules: ["output_estimated"] },
    ])
      expect(readMetering(stored(meteringColumn({ metering })) as MeteringJson)).toEqual(metering);
  });

  it("keep every kind of token", () => {
    const otherTokens = { cacheWrite: 1, cacheWrite1h: 2, audioInput: 3, imageInput: 4, imageOutput: 2_147_483_647 };
    expect(readOtherTokens(stored(otherTokensColumn({ otherTokens })) as OtherTokensJson)).toEqual(otherTokens);
  });

  it("keep prices beyond what a JavaScript number counts exactly", () => {
    const other = {
      cacheWrite: 9_007_199_254_740_993n,
      cacheWrite1h: 1n,
      perRequest: 5_000_000n,
      longContext: [
        { above: 200_000, input: 9_007_199_254_740_995n, output: 2n, cacheHit: null },
        { above: 272_000, input: 3n, output: 4n, cacheHit: 5n, cacheWrite: 6n, cacheWrite1h: 7n },
      ],
    };
    expect(readOtherPrices(stored(otherPricesColumn({ other })) as OtherPricesJson)).toEqual(other);
  });

  it("keep what an upstream reported and by which rules it was corrected", () => {
    const reported = {
      inputTokensUncached: 10,
      inputTokensCached: 3,
      outputTokens: 7,
      otherTokens: { imageOutput: 4 },
    };
    const metering = { rules: ["output_above_bound"], reported };
    expect(readMetering(stored(meteringColumn({ metering })) as MeteringJson)).toEqual(metering);
    expect(readMetering(stored(meteringColumn({ metering: { rules: ["cached_assumed"] } })) as MeteringJson)).toEqual({
      rules: ["cached_assumed"],
    });
  });
});
