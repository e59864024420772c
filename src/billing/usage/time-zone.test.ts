import { describe, expect, it } from "vitest";
import { isoWriter, requireTimeZone } from "./time-zone.ts";

describe("isoWriter", () => {
  it.each([
    ["Asia/Jakarta", "2026-11-20T17:00:00.001Z", "2026-11-21T00:00:00.001+07:00"],
    ["UTC", "2026-11-20T17:00:00.001Z", "2026-11-20T17:00:00.001+00:00"],
    ["Asia/Kathmandu", "2026-11-20T18:15:00.000Z", "2026-11-21T00:00:00.000+05:45"],
    ["America/St_Johns", "2026-11-21T03:29:59.999Z", "2026-11-20T23:59:59.999-03:30"],
  ])("writes the time of %s with its offset", (zone, moment, written) => {
    expect(isoWriter(zone)(Date.parse(moment))).toBe(written);
  });

  it("follows the clocks when they change", () => {
    const iso = isoWriter("America/New_York");
    expect(["2026-11-01T05:59:59.000Z", "2026-11-01T06:00:00.000Z"].map((at) => iso(Date.parse(at)))).toEqual([
      "2026-11-01T01:59:59.000-04:00",
      "2026-11-01T01:00:00.000-05:00",
    ]);
  });

  it("reads one moment in every zone of the database", () => {
    for (const zone of Intl.supportedValuesOf("timeZone")) {
      requireTimeZone(zone);
      const iso = isoWriter(zone);
      for (const month of [0, 3, 6, 9]) {
        const at = Date.UTC(2026, month, 15, 11, 7, 13, 5);
        expect(Date.parse(iso(at)), zone).toBe(at);
        // Days begin at quarters of an hour, which the roll-ups rest on.
        expect(Math.abs(Number(iso(at).slice(-2))) % 15, zone).toBe(0);
      }
    }
  });
});
