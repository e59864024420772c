import { timestampDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { momentsOf } from "./moments.ts";

describe("days as moments", () => {
  it("begin at midnight in Jakarta and include the whole last day", () => {
    const { from, until } = momentsOf({ from: "2026-11-20", to: "2026-11-20" });
    expect(from && timestampDate(from).toISOString()).toBe("2026-11-19T17:00:00.000Z");
    expect(until && timestampDate(until).toISOString()).toBe("2026-11-20T17:00:00.000Z");
  });

  it("omit an invalid day", () => {
    expect(momentsOf({ from: "2026-02-30" })).toEqual({});
  });
});
