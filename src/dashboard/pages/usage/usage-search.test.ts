import { timestampDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { UsageBasis } from "#gen/saldo/billing/v1/usage_pb.ts";
import { filterOf, rangeOf, readUsageSearch } from "./usage-search.ts";

const TODAY = "2026-11-21";

describe("the address of the usage page", () => {
  it("keeps valid fields and drops the others", () => {
    expect(readUsageSearch({ days: 7, model: "acme/large:v1.2", tab: "requests", unit: "tokens", other: 1 })).toEqual({
      days: 7,
      model: "acme/large:v1.2",
      tab: "requests",
      unit: "tokens",
    });
    expect(readUsageSearch({ days: "many", from: "2026-02-30", to: "2026-03-01", status: "x", model: 7 })).toEqual({});
    expect(readUsageSearch({ from: "2026-03-02", to: "2026-03-01" })).toEqual({});
    expect(readUsageSearch({ key: "<b>laptop</b>" })).toEqual({});
    const key = "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b";
    expect(readUsageSearch({ key })).toEqual({ key });
    expect(readUsageSearch({ status: "failed", by: "key" })).toEqual({ status: "failed", by: "key" });
    expect(readUsageSearch({ by: "model" })).toEqual({});
    expect(readUsageSearch({ member: key })).toEqual({ member: key });
    expect(readUsageSearch({ member: "ani@example.com" })).toEqual({});
  });

  it("covers the preset's number of days, today included", () => {
    expect(rangeOf({ days: 7 }, TODAY)).toEqual({ first: "2026-11-15", last: "2026-11-21" });
    expect(rangeOf({}, TODAY)).toEqual({ first: "2026-10-23", last: "2026-11-21" });
  });

  it("filters whole days, from midnight to midnight in Jakarta", () => {
    const { from, until, bases } = filterOf({ from: "2026-11-20", to: "2026-11-20" }, TODAY);
    expect(timestampDate(from).toISOString()).toBe("2026-11-19T17:00:00.000Z");
    expect(timestampDate(until).toISOString()).toBe("2026-11-20T17:00:00.000Z");
    expect(bases).toEqual([]);
    expect(filterOf({ status: "failed" }, TODAY)).toMatchObject({ bases: [], failed: true });
    expect(filterOf({ status: "free" }, TODAY)).toMatchObject({ bases: [UsageBasis.FREE], failed: false });
  });
});
