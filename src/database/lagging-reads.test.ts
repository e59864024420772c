import type { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { ValidationError } from "../kernel/errors.ts";
import { type FallbackReason, LaggingReads } from "./lagging-reads.ts";

const HISTORY = { system: "1", timeline: 1, books: "5/16400" };
const T0 = Date.UTC(2026, 10, 26);

/** A primary whose log grows by one for each millisecond, and a standby that a test moves. */
function serversOf({ maxLagMs = 10_000 } = {}) {
  const seen = {
    nowMs: 0,
    primary: { ...HISTORY },
    standby: { ...HISTORY, timeline: 1 as number | null, lsn: 0 as number | null },
    failure: null as Error | null,
    changes: [] as (FallbackReason | null)[],
  };
  const primary = {
    name: "primary",
    query: async () => ({ rows: [{ ...seen.primary, at: new Date(T0 + seen.nowMs), lsn: lsn(seen.nowMs) }] }),
  };
  const standby = {
    name: "standby",
    query: async () => {
      if (seen.failure !== null) throw seen.failure;
      const { lsn: at, ...history } = seen.standby;
      return { rows: [{ ...history, lsn: at === null ? null : lsn(at) }] };
    },
  };
  const reads = new LaggingReads({
    primary: primary as unknown as Pool,
    standby: standby as unknown as Pool,
    maxLagMs,
    onChange: (reason) => void seen.changes.push(reason),
    now: () => seen.nowMs,
  });
  /** A second later, with the standby at that place of the log. */
  const second = async (at: number | null): Promise<void> => {
    seen.nowMs += 1_000;
    seen.standby.lsn = at;
    await reads.look();
  };
  return { reads, seen, second };
}

const lsn = (at: number): string => `0/${at.toString(16)}`;
const nameOf = async (pool: Pool): Promise<string> => (pool as unknown as { name: string }).name;
const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const conflict = Object.assign(new Error("canceling statement due to conflict with recovery"), {
  severity: "ERROR",
  code: "40001",
});

async function readAt(reads: LaggingReads) {
  const read = reads.beginRead();
  return { from: await read.run(nameOf), asOf: read.asOf === null ? null : read.asOf.getTime() - T0 };
}

describe("a read that may lag", () => {
  it("goes to the primary until the standby has come to a position that was noted", async () => {
    const { reads, second } = serversOf();
    expect(await readAt(reads)).toEqual({ from: "primary", asOf: null });
    await second(1_000);
    expect(await readAt(reads)).toEqual({ from: "primary", asOf: null });
    await second(999);
    expect(await readAt(reads)).toEqual({ from: "primary", asOf: null });
    await second(2_500);
    expect(await readAt(reads)).toEqual({ from: "standby", asOf: 2_000 });
    expect(reads.lagSeconds).toBe(1);
    expect(reads.fallbacks).toMatchObject({ away: 1, behind: 2 });
    expect(reads.counts).toEqual({ primary: 3, standby: 1 });
  });

  it("is of the moment whose data the standby has, and goes to the primary once that is too old", async () => {
    const { reads, second, seen } = serversOf({ maxLagMs: 5_000 });
    await second(0);
    for (let times = 0; times < 5; times += 1) {
      await second(1_500);
      expect(await readAt(reads)).toEqual({ from: "standby", asOf: 1_000 });
    }
    for (let times = 0; times < 2; times += 1) {
      await second(1_500);
      expect(await readAt(reads)).toEqual({ from: "primary", asOf: null });
    }
    await second(8_000);
    expect(await readAt(reads)).toEqual({ from: "standby", asOf: 8_000 });
    expect(seen.changes).toEqual(["behind", null]);
  });

  it.each([
    ["of another system", { system: "2" }],
    ["of another timeline", { timeline: 2 }],
    ["of an unknown timeline", { timeline: null }],
    ["with another database", { books: "6/16400" }],
  ])("never goes to a standby %s", async (_what, standby) => {
    const { reads, second, seen } = serversOf();
    seen.standby = { ...seen.standby, ...standby };
    await second(1_000);
    await second(2_000);
    expect(await readAt(reads)).toEqual({ from: "primary", asOf: null });
    expect(reads.problem).toBe("history");
  });

  it("never goes to a server that is no standby", async () => {
    const { reads, second } = serversOf();
    await second(null);
    await second(null);
    expect(reads.problem).toBe("history");
  });

  it("forgets the positions of a primary that another one has followed", async () => {
    const { reads, second, seen } = serversOf();
    await second(1_000);
    await second(2_000);
    seen.primary.timeline = 2;
    await second(9_000);
    seen.standby.timeline = 2;
    await second(2_500);
    expect(await readAt(reads)).toEqual({ from: "primary", asOf: null });
    await second(4_000);
    expect(await readAt(reads)).toEqual({ from: "standby", asOf: 4_000 });
  });

  it("goes to the primary while the standby does not answer, or was not looked at for long", async () => {
    const { reads, second, seen } = serversOf();
    await second(1_000);
    await second(2_000);
    expect(reads.problem).toBeNull();
    seen.nowMs += 5_001;
    expect(reads.problem).toBe("away");
    await second(8_000);
    expect(reads.problem).toBeNull();
    seen.failure = away;
    await second(9_000);
    expect(await readAt(reads)).toEqual({ from: "primary", asOf: null });
    expect(seen.changes).toEqual([]);
    await second(10_000);
    expect(seen.changes).toEqual(["away"]);
  });

  it("is repeated on the primary where the standby cancels it, and stays there", async () => {
    const { reads, second } = serversOf();
    await second(1_000);
    await second(2_000);
    const read = reads.beginRead();
    const from: string[] = [];
    const work = (fails: boolean) => async (pool: Pool) => {
      from.push(await nameOf(pool));
      if (fails && from.at(-1) === "standby") throw conflict;
    };
    for (const fails of [false, true, false]) await read.run(work(fails));
    expect(from).toEqual(["standby", "standby", "primary", "primary"]);
    expect(read.asOf?.getTime()).toBe(T0 + 1_000);
    expect(reads.fallbacks).toMatchObject({ conflict: 1 });
    expect(await readAt(reads)).toMatchObject({ from: "standby" });
  });

  it("is of now where all of it came from the primary", async () => {
    const { reads, second } = serversOf();
    await second(1_000);
    await second(2_000);
    const read = reads.beginRead();
    const fails = async (pool: Pool) => {
      if ((await nameOf(pool)) === "standby") throw away;
      return "primary";
    };
    expect([await read.run(fails), read.asOf]).toEqual(["primary", null]);
    // No other read waits for a standby that is away.
    expect(reads.problem).toBe("away");
  });

  it("is not repeated where its question is wrong", async () => {
    const { reads, second } = serversOf();
    await second(1_000);
    await second(2_000);
    const wrong = new ValidationError([]);
    await expect(reads.beginRead().run(() => Promise.reject(wrong))).rejects.toBe(wrong);
    expect(reads.counts.primary).toBe(0);
  });
});
