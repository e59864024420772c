import { describe, expect, it } from "vitest";
import { beginOf, dayOf, daysBetween, daysLater, isDay } from "./days.ts";

describe("days of the billing zone", () => {
  it("begin at midnight in Jakarta", () => {
    expect(beginOf("2026-11-21").toISOString()).toBe("2026-11-20T17:00:00.000Z");
    expect(dayOf(new Date("2026-11-20T16:59:59.999Z"))).toBe("2026-11-20");
    expect(dayOf(new Date("2026-11-20T17:00:00.000Z"))).toBe("2026-11-21");
  });

  it("reject days that do not exist", () => {
    expect(isDay("2026-02-28")).toBe(true);
    expect(isDay("2026-02-30")).toBe(false);
    expect(isDay("2026-2-3")).toBe(false);
    expect(isDay("9999-12-31")).toBe(false);
    expect(isDay("0000-01-01")).toBe(false);
    expect(isDay(undefined)).toBe(false);
  });

  it("count over the ends of months and years", () => {
    expect(daysLater("2026-12-31", 1)).toBe("2027-01-01");
    expect(daysBetween("2026-02-27", "2026-03-01")).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
    expect(daysBetween("2026-03-02", "2026-03-01")).toEqual([]);
    expect(daysBetween("2020-01-01", "2026-03-01", 3)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
  });
});
