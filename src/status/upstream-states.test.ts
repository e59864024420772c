import { describe, expect, it } from "vitest";
import { type MinuteOfCalls, upstreamComponent } from "./upstream-states.ts";

const START = Date.UTC(2026, 10, 26, 3);
const minute = (number: number): Date => new Date(START + number * 60_000);
/** Calls of minutes by their number: answered, failed. */
const calls = (rows: Readonly<Record<number, readonly [number, number]>>): MinuteOfCalls[] =>
  Object.entries(rows).map(([at, [answered, failed]]) => ({ minute: minute(Number(at)), answered, failed }));
const at = (number: number, rows: Parameters<typeof calls>[0]) =>
  upstreamComponent("Acme", calls(rows), minute(number).getTime());

describe("the state of an upstream", () => {
  it("is operational without calls, and says nothing of since when", () => {
    expect(at(10, {})).toEqual({ kind: "upstream", name: "Acme", state: "operational", since: null, incidents: [] });
  });

  it("needs five failures, and a tenth of the calls of five minutes, to be degraded", () => {
    expect(at(1, { 0: [0, 4] }).state).toBe("operational");
    expect(at(1, { 0: [46, 5] }).state).toBe("operational");
    expect(at(1, { 0: [45, 5] }).state).toBe("degraded");
    expect(at(5, { 0: [20, 3], 4: [20, 2] }).state).toBe("degraded");
    expect(at(6, { 0: [20, 3], 5: [20, 2] }).state).toBe("operational");
  });

  it("is down when nine of ten calls fail", () => {
    expect(at(1, { 0: [1, 8] }).state).toBe("degraded");
    expect(at(1, { 0: [1, 9] }).state).toBe("down");
  });

  it("begins and ends with the minutes that its calls show, and remembers the worst of it", () => {
    const rows = { 0: [50, 0], 3: [40, 10], 4: [0, 900], 6: [60, 0], 12: [60, 0] } as const;
    expect(at(7, rows)).toMatchObject({ state: "operational", since: minute(12) });
    const incident = { state: "down", beganAt: minute(3), endedAt: minute(12) };
    expect(at(13, rows).incidents).toEqual([incident]);
    const { 6: _six, 12: _twelve, ...lasting } = rows;
    expect(at(5, lasting)).toMatchObject({
      state: "down",
      since: minute(4),
      incidents: [{ ...incident, endedAt: null }],
    });
  });

  it("is believed for a quarter of an hour without calls", () => {
    const rows = { 0: [0, 9] } as const;
    expect(at(15, rows).state).toBe("down");
    expect(at(16, rows)).toMatchObject({ state: "operational", since: minute(15) });
    expect(at(60, { ...rows, 59: [0, 9] }).incidents).toEqual([
      { state: "down", beganAt: minute(59), endedAt: null },
      { state: "down", beganAt: minute(0), endedAt: minute(15) },
    ]);
  });

  it("adds up rows of one minute, in any order, and shows ten incidents, the newest first", () => {
    const rows = [...calls({ 1: [0, 3] }), ...calls({ 0: [1, 0] }), ...calls({ 1: [0, 3] })];
    expect(upstreamComponent("Acme", rows, minute(2).getTime())).toMatchObject({ state: "degraded", since: minute(1) });
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, each) => [each * 30, [0, 9] as const]));
    const { incidents } = at(400, many);
    expect(incidents.map(({ beganAt }) => beganAt)).toEqual(
      Array.from({ length: 10 }, (_, each) => minute((11 - each) * 30)),
    );
  });
});
