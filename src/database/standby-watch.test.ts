import { describe, expect, it } from "vitest";
import { StandbyWatch } from "./standby-watch.ts";

function watchOf(isRequired: boolean) {
  const seen = { standbys: 1 as number | Error, nowMs: 1_000, changes: [] as boolean[] };
  const pool = {
    query: async () => {
      if (seen.standbys instanceof Error) throw seen.standbys;
      return { rows: [{ standbys: seen.standbys }] };
    },
  };
  const onChange = (isMissing: boolean) => void seen.changes.push(isMissing);
  const watch = new StandbyWatch({ pool: pool as never, isRequired, onChange, now: () => seen.nowMs });
  return { watch, seen };
}

describe("a required standby", () => {
  it("is missing until it was seen", async () => {
    const { watch } = watchOf(true);
    expect(watch.isMissing).toBe(true);
    await watch.look();
    expect([watch.isMissing, watch.standbys]).toEqual([false, 1]);
  });

  it("is missing when none confirms, and each change is reported once", async () => {
    const { watch, seen } = watchOf(true);
    for (const standbys of [1, 0, 0, 1]) {
      seen.standbys = standbys;
      await watch.look();
      expect(watch.isMissing).toBe(standbys === 0);
    }
    expect(seen.changes).toEqual([true, false]);
  });

  it("is believed for five seconds while the database does not answer", async () => {
    const { watch, seen } = watchOf(true);
    await watch.look();
    seen.standbys = new Error("away");
    seen.nowMs = 6_000;
    await expect(watch.look()).rejects.toThrow("away");
    expect(watch.isMissing).toBe(false);
    seen.nowMs = 6_001;
    await expect(watch.look()).rejects.toThrow("away");
    expect([watch.isMissing, ...seen.changes]).toEqual([true, true]);
  });
});

it("is never missing where it is not required", async () => {
  const { watch, seen } = watchOf(false);
  seen.standbys = 0;
  await watch.look();
  expect([watch.isMissing, seen.changes]).toEqual([false, []]);
});
