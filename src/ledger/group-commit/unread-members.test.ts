import type { Pool } from "pg";
import { expect, test } from "vitest";
import { ServiceBusy } from "../../kernel/errors.ts";
import type { LaneStatement } from "./lane-statement.ts";
import type { Waiting } from "./lane-queue.ts";
import { UnreadMembers } from "./unread-members.ts";

const PATIENCE_MS = 3_000;

test("members who waited too long behind the reading of others are refused, and not read first", async () => {
  let reads = 0;
  const pool = { connect: () => Promise.reject(new Error(`reading ${(reads += 1)}`)) } as unknown as Pool;
  const unread = new UnreadMembers(pool, () => {});
  const refusals: unknown[] = [];
  const members = Array.from({ length: 64 }, () => ({
    statement: { lockPatienceMs: PATIENCE_MS, recall: () => ({}) } as unknown as LaneStatement<never, never>,
    since: performance.now() - PATIENCE_MS - 1,
    reject: (error: unknown) => refusals.push(error),
  }));
  unread.add(members as unknown as Waiting[]);
  await expect.poll(() => refusals.length).toBe(members.length);
  expect(refusals.every((error) => error instanceof ServiceBusy)).toBe(true);
  expect([reads, unread.waiting]).toEqual([0, 0]);
});
