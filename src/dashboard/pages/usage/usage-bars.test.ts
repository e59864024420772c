import { create } from "@bufbuild/protobuf";
import { UsageSummarySchema } from "#gen/saldo/billing/v1/usage_pb.ts";
import { describe, expect, it } from "vitest";
import { barsOf, sharesOf } from "./usage-bars.ts";

const row = (day: string, model: string, charge: string) =>
  create(UsageSummarySchema, { day, model, charge, requests: 1 });

describe("the bars of the usage chart", () => {
  it("give the largest models a colour each and the others a shared one", () => {
    const rows = Array.from({ length: 10 }, (_, index) => row("2026-11-20", `model-${index}`, `${index + 1}.5`));
    const shares = sharesOf(rows, "rupiah");
    expect(shares).toHaveLength(8);
    expect(shares[0]).toEqual({ group: "model-9", colour: 0, total: "10.5" });
    expect(shares.at(-1)).toEqual({ group: null, colour: 7, total: "7.5" });
  });

  it("have a bar for every day, and add up to the rows' sums", () => {
    const bars = barsOf({
      rows: [row("2026-11-20", "a/b:c", "0.1"), row("2026-11-20", "__proto__", "0.2"), row("2026-11-22", "a/b:c", "5")],
      unit: "rupiah",
      range: { first: "2026-11-20", last: "2026-11-22" },
      othersName: "others",
      dayName: (day) => day,
      shortDayName: (day) => day.slice(5),
      valueName: (value) => value,
    });
    expect(bars.map(({ label, shortLabel, total }) => [label, shortLabel, total])).toEqual([
      ["2026-11-20", "11-20", "0.3"],
      ["2026-11-21", "11-21", "0"],
      ["2026-11-22", "11-22", "5"],
    ]);
    expect(bars[0]?.parts.map(({ name, value }) => [name, value])).toEqual([
      ["a/b:c", "0.1"],
      ["__proto__", "0.2"],
    ]);
  });
});
