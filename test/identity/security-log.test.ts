// The security log on a real database: its lines, the facts that no line may have, and the cost of a flood.

import type { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { listSecurityEvents } from "../../src/identity/read-security-log.ts";
import {
  createSecurityLog,
  emailHashOf,
  MOST_WAITING,
  REFUSALS_A_MINUTE,
  type SecurityEvent,
  type SecurityLogLine,
} from "../../src/identity/security-log.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const SECRET = "a secret of this test, thirty-two characters";
let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());
/** Lines cannot be removed, so each test reads its own. */
let former: ReadonlySet<unknown> = new Set();
beforeEach(async () => {
  former = new Set((await allRows()).map(({ id }) => id));
});

function newLog(pool: Pool = opened.database.pool) {
  const clock = { nowMs: 0, now: () => clock.nowMs };
  const faults: unknown[] = [];
  const lines: SecurityLogLine[] = [];
  const log = createSecurityLog({
    pool,
    secret: async () => SECRET,
    onFault: (error) => faults.push(error),
    onLine: (line) => lines.push(line),
    clock,
  });
  return { ...log, clock, faults, lines };
}

async function allRows(): Promise<Record<string, unknown>[]> {
  return (await opened.database.pool.query("SELECT * FROM auth.security_event ORDER BY id")).rows;
}

async function rows(): Promise<Record<string, unknown>[]> {
  return (await allRows()).filter(({ id }) => !former.has(id));
}

const refused = (subject: string): SecurityEvent => ({ kind: "key_authentication", outcome: "refused", subject });

test("an event is written with who, from where and how it ended, and its e-mail address only as a keyed hash", async () => {
  const log = newLog();
  const personId = uuidv7();
  const email = "Ani@Example.com";
  const address = "2001:db8:1:2:3:4:5:6";
  log.recordSecurityEvent({ kind: "sign_in", outcome: "succeeded", personId, email, address, detail: "password" });
  await log.close();
  const written = await rows();
  expect(written).toEqual([
    expect.objectContaining({
      kind: "sign_in",
      outcome: "succeeded",
      person_id: personId,
      email_hash: emailHashOf("ani@example.com", SECRET),
      network: "2001:db8:1:2::/64",
      detail: "password",
      times: 1,
    }),
  ]);
  expect(JSON.stringify(written).toLowerCase()).not.toContain("example.com");
});

test("the lines of an address are found also after another secret has come before the one of their time", async () => {
  const log = newLog();
  const email = "former@example.com";
  log.recordSecurityEvent({ kind: "sign_in", outcome: "refused", email });
  await log.close();
  const found = async (...secrets: string[]): Promise<number> => {
    const page = { filter: { email }, beforeId: null, limit: 10, secrets: async () => secrets };
    return (await listSecurityEvents(opened.database.pool, page)).length;
  };
  expect([await found("another secret", SECRET), await found("another secret")]).toEqual([1, 0]);
});

test("equal events are one row with their number", async () => {
  const log = newLog();
  for (let i = 0; i < 500; i += 1) log.recordSecurityEvent({ ...refused("gw_aB3x"), address: "203.0.113.7" });
  await log.close();
  expect(await rows()).toEqual([expect.objectContaining({ subject: "gw_aB3x", times: 500 })]);
});

test("a flood of refusals writes a bounded number of rows a minute, and the number of those it left out", async () => {
  const log = newLog();
  const flood = 10_000;
  for (let i = 0; i < flood; i += 1) log.recordSecurityEvent(refused(`gw_${i}`));
  await log.flush();
  const written = await rows();
  expect(written).toHaveLength(REFUSALS_A_MINUTE + 1);
  const leftOut = written.filter(({ kind }) => kind === "events_left_out");
  expect(leftOut).toMatchObject([{ times: flood - REFUSALS_A_MINUTE }]);
  // Sign-ins of that time are still written, and refusals again after a minute.
  log.recordSecurityEvent({ kind: "sign_in", outcome: "succeeded", personId: uuidv7() });
  log.clock.nowMs += 60_000;
  log.recordSecurityEvent(refused("gw_after"));
  await log.close();
  const after = (await rows()).filter(({ kind, subject }) => kind === "sign_in" || subject === "gw_after");
  expect(after).toHaveLength(2);
});

test("what the database did not take is written later, within the same bound", async () => {
  let isAway = true;
  const away = {
    query: (query: never) => (isAway ? Promise.reject(new Error("away")) : opened.database.pool.query(query)),
  };
  const log = newLog(away as unknown as Pool);
  log.recordSecurityEvent({ kind: "sign_in", outcome: "succeeded", personId: uuidv7() });
  await expect(log.flush()).rejects.toThrow("away");
  const overMinutes = 20;
  for (let minute = 0; minute < overMinutes; minute += 1) {
    log.clock.nowMs += 60_000;
    for (let i = 0; i < REFUSALS_A_MINUTE; i += 1) log.recordSecurityEvent(refused(`gw_${minute}_${i}`));
  }
  // The process log has it, though the database is unavailable.
  expect(log.lines).toMatchObject([{ event: "security.sign_in", outcome: "succeeded" }]);
  isAway = false;
  await log.close();
  const written = await rows();
  expect(new Set<unknown>(log.lines.map(({ id }) => id))).toEqual(new Set(written.map(({ id }) => id)));
  expect(written.filter(({ kind }) => kind !== "events_left_out")).toHaveLength(MOST_WAITING);
  const counted = written.reduce((sum, row) => sum + Number(row["times"]), 0);
  expect(counted).toBe(1 + overMinutes * REFUSALS_A_MINUTE);
});

test("a text that is long or holds a NUL is cut and written", async () => {
  const log = newLog();
  log.recordSecurityEvent({ kind: "operator_read", outcome: "succeeded", detail: `a\0b${"x".repeat(5_000)}` });
  await log.close();
  const [row] = await rows();
  expect(row?.["detail"]).toMatch(/^abx{117}$/);
});
