import { DatabaseError } from "pg";
import { expect, test } from "vitest";
import { Reachability } from "./reachability.ts";

type Query = PromiseWithResolvers<object>;

/** A database whose answers the test gives, and a clock that it sets. */
function createProbe() {
  const queries: Query[] = [];
  const seen = { connections: 0, ended: 0, nowMs: 0 };
  const connect = async () => {
    seen.connections += 1;
    return {
      query: () => {
        const query = Promise.withResolvers<object>();
        queries.push(query);
        return query.promise;
      },
      end: async () => void (seen.ended += 1),
    };
  };
  const probe = new Reachability(connect as never, { now: () => seen.nowMs });
  return { probe, queries, seen };
}

const settled = () => new Promise((resolve) => void setImmediate(resolve));

test("asks once for all callers of the same time, and for those of the next second", async () => {
  const { probe, queries, seen } = createProbe();
  const answers = Array.from({ length: 100 }, () => probe.isReachable());
  await settled();
  expect(queries.length).toBe(1);
  seen.nowMs = 5_000;
  void probe.isReachable();
  queries[0]?.resolve({});
  expect(await Promise.all(answers)).toEqual(answers.map(() => true));
  seen.nowMs = 5_999;
  expect(await probe.isReachable()).toBe(true);
  expect(queries.length).toBe(1);
  seen.nowMs = 6_000;
  const later = probe.isReachable();
  await settled();
  queries[1]?.resolve({});
  expect([await later, queries.length, seen.connections]).toEqual([true, 2, 1]);
  await probe.close();
  expect(seen.ended).toBe(1);
});

test("is false when the database fails, is cached then too, and connects again afterwards", async () => {
  const { probe, queries, seen } = createProbe();
  const first = probe.isReachable();
  await settled();
  queries[0]?.reject(new Error("gone"));
  expect(await first).toBe(false);
  expect([await probe.isReachable(), queries.length]).toEqual([false, 1]);
  seen.nowMs = 1_000;
  const second = probe.isReachable();
  await settled();
  queries[1]?.resolve({});
  expect([await second, seen.connections, seen.ended]).toEqual([true, 2, 1]);
});

test("is false when no connection can be made", async () => {
  const probe = new Reachability(() => Promise.reject(new Error("refused")));
  expect(await probe.isReachable()).toBe(false);
  await probe.close();
});

/** A database that answers each query, where the test decides how connecting ends. */
function createLogin() {
  const seen = { connections: 0, ended: 0, nowMs: 0, refusal: null as Error | null, changes: [] as unknown[] };
  const connect = async () => {
    if (seen.refusal !== null) throw seen.refusal;
    seen.connections += 1;
    return { query: async () => ({}), end: async () => void (seen.ended += 1) };
  };
  const onChange = (reason: unknown) => void seen.changes.push(reason);
  const probe = new Reachability(connect as never, { now: () => seen.nowMs, onChange });
  const after = (ms: number) => {
    seen.nowMs += ms;
    return probe.isReachable();
  };
  return { seen, after, probe };
}

const refusedWith = (code: string) =>
  Object.assign(new DatabaseError("refused", 7, "error"), { severity: "FATAL", code });

test.each(["28P01", "28000", "42501"])(
  "notices a login that is refused by now, and keeps its connections: %s",
  async (code) => {
    const { seen, after, probe } = createLogin();
    expect(await after(0)).toBe(true);
    seen.refusal = refusedWith(code);
    expect([await after(9_000), seen.connections]).toEqual([true, 1]);
    expect(await after(1_000)).toBe(false);
    expect(await after(1_000)).toBe(false);
    expect(seen.changes).toEqual([seen.refusal]);
    seen.refusal = null;
    expect(await after(1_000)).toBe(true);
    expect([seen.changes.at(-1), seen.changes.length]).toEqual([null, 2]);
    await probe.close();
    expect(seen.ended).toBe(seen.connections);
  },
);

test("keeps its connection while the server takes no more, and changes it when there is room", async () => {
  const { seen, after, probe } = createLogin();
  expect(await after(0)).toBe(true);
  seen.refusal = refusedWith("53300");
  expect([await after(10_000), await after(10_000), seen.connections, seen.ended]).toEqual([true, true, 1, 0]);
  seen.refusal = null;
  expect([await after(10_000), seen.connections, seen.ended]).toEqual([true, 2, 1]);
  expect(seen.changes).toEqual([]);
  await probe.close();
  expect(seen.ended).toBe(2);
});
