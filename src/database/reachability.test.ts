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
  const probe = new Reachability(connect as never, () => seen.nowMs);
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
