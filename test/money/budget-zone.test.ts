// The zone of an account's budgets: exact midnights, changes of the zone in both directions, and two processes at a midnight.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { BudgetPeriod } from "../../src/kernel/key-limit-errors.ts";
import { setBudgetZone } from "../../src/keys/budget-zone.ts";
import { getKey } from "../../src/keys/issued-keys.ts";
import { NO_LIMITS } from "../../src/keys/key-limits.ts";
import { readMemberBudget, setMemberBudget } from "../../src/keys/member-budgets.ts";
import { setKeyLimits } from "../../src/keys/set-key-limits.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { chooseSeed, seededRandom } from "./random.ts";

const UNIT = 5_000n; // micro-rupiah of one input token

let setup: MoneySetup;
let one: TestProcess;
let other: TestProcess;
beforeAll(async () => {
  setup = await MoneySetup.create("embedded");
  [one, other] = [await setup.process(), await setup.process()];
});
afterAll(async () => {
  expect(await setup.audit()).toMatchObject(SOUND);
  await setup.close();
});

type Which = { readonly accountId: string; readonly keyId: string };
const limit = ({ accountId, keyId }: Which, amount: bigint, period: BudgetPeriod) =>
  withTransaction(setup.opened.database, (client) =>
    setKeyLimits(client, { accountId, keyId, limits: { ...NO_LIMITS, budget: { amount, period } } }),
  );
const limitMember = ({ accountId, personId }: { accountId: string; personId: string }, period: BudgetPeriod) =>
  withTransaction(setup.opened.database, (client) =>
    setMemberBudget(client, { accountId, personId, budget: { amount: 20n * UNIT, period } }),
  );
const move = (accountId: string, timeZone: string) => setBudgetZone(setup.opened.database, { accountId, timeZone });
const stateOf = async (which: Which) => (await getKey(setup.opened.database, which)).budget;

async function limitedKey(budget: bigint, period: BudgetPeriod): Promise<Which> {
  const accountId = await setup.account(10_000n * UNIT);
  const keyId = await setup.key(accountId);
  await limit({ accountId, keyId }, budget, period);
  return { accountId, keyId };
}

/** Has a request of a key admitted and charged, where its budget allows it. */
async function spend({ ledger }: TestProcess, { accountId, keyId }: Which, tokens: number): Promise<string> {
  const request = admission(accountId, keyId, BigInt(tokens) * UNIT);
  const { outcome } = await ledger.admit(request);
  if (outcome === "granted") await ledger.settle(settlement(accountId, request.requestId, tokens));
  return outcome;
}

async function valueOf<Value>(text: string, values: readonly unknown[]): Promise<Value> {
  return (await setup.pool.query<{ value: Value }>(text, [...values])).rows[0]?.value as Value;
}

/** What the budget of 100 has left at a moment, of which 70 were spent since a start. */
const leftAt = (period: BudgetPeriod, start: string, zone: string | null, until: string | null, at: string) =>
  valueOf<bigint>("SELECT budget_left(100, $1, $2, $3, $4, 70, 0, $5) AS value", [period, start, zone, until, at]);
const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
const endAt = async (period: BudgetPeriod, zone: string | null, until: string | null, at: string) =>
  iso(await valueOf<Date | null>("SELECT budget_end_at($1, $2, $3, $4) AS value", [period, zone, until, at]));

/** Zones with other rules in these years, of all that the database knows. */
const ZONES = `
SELECT DISTINCT ON (utc_offset, timestamptz '2027-01-15' AT TIME ZONE name, timestamptz '2027-03-20' AT TIME ZONE name,
                    timestamptz '2027-04-10' AT TIME ZONE name, timestamptz '2027-10-10' AT TIME ZONE name) name
FROM pg_timezone_names WHERE name ~ '^[A-Z][A-Za-z_]+/[A-Z]' AND name !~ '^(Etc|SystemV|US)/'`;
// The days of a zone, each with its start as it is computed from noon, and again from half an hour behind the start.
const DAYS = `
SELECT count(*)::int AS days, array_agg(date) FILTER (WHERE (
    (start AT TIME ZONE $1)::date = date AND ((start - interval '1 microsecond') AT TIME ZONE $1)::date < date
    AND zone_period_start('day', start + interval '30 minutes', $1) = start AND zone_period_start('day', start, $1) = start
    AND zone_period_start('day', start - interval '1 microsecond', $1) < start
    AND ((start - interval '90 minutes') AT TIME ZONE $1)::date < date
  ) IS NOT TRUE) AS wrong
FROM (
  SELECT date::date, zone_period_start('day', (date + interval '12 hours') AT TIME ZONE $1, $1) AS start
  FROM generate_series(timestamp '2026-11-01', timestamp '2027-12-31', interval '1 day') AS date
) each`;

describe("a period", () => {
  it("begins at the first moment of its date, in every zone that the database knows", async () => {
    const { rows: zones } = await setup.pool.query<{ name: string }>(ZONES);
    expect(zones.length).toBeGreaterThan(50);
    const wrong: string[] = [];
    for (const { name } of zones) {
      const { rows } = await setup.pool.query<{ days: number; wrong: Date[] | null }>(DAYS, [name]);
      expect(rows[0]?.days).toBe(426);
      if (rows[0]?.wrong !== null) wrong.push(`${name} ${String(rows[0]?.wrong[0])}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ["day", null, "2026-11-26T17:00:00.000Z"],
    ["day", "Asia/Makassar", "2026-11-26T16:00:00.000Z"],
    ["day", "Asia/Jayapura", "2026-11-26T15:00:00.000Z"],
    ["month", "Asia/Jayapura", "2026-11-30T15:00:00.000Z"],
    ["day", "Asia/Kathmandu", "2026-11-26T18:15:00.000Z"],
    // Midnight is left out: the day begins at one o'clock.
    ["day", "Asia/Beirut", "2027-03-27T22:00:00.000Z"],
    ["day", "Africa/Cairo", "2027-04-29T22:00:00.000Z"],
    ["month", "America/Santiago", "2027-09-01T04:00:00.000Z"],
    // Midnight is there twice: the day begins with the first.
    ["day", "America/Havana", "2026-11-01T04:00:00.000Z"],
    ["month", "America/Havana", "2026-11-01T04:00:00.000Z"],
    ["day", "Atlantic/Azores", "2026-10-25T00:00:00.000Z"],
  ] as const)("of a %s in %s begins again at %s, and no millisecond before", async (period, zone, midnight) => {
    const before = new Date(Date.parse(midnight) - 1).toISOString();
    const start = new Date(Date.parse(midnight) - 3_600_000).toISOString();
    expect(await leftAt(period, start, zone, null, before)).toBe(30n);
    expect(await leftAt(period, start, zone, null, midnight)).toBe(100n);
    expect(await endAt(period, zone, null, before)).toBe(midnight);
    const began = "SELECT budget_start_at($1, $2, $3, NULL, $4::timestamptz + interval '1 hour') AS value";
    expect(iso(await valueOf<Date>(began, [period, start, zone, midnight]))).toBe(midnight);
  });
});

describe("a change of the zone", () => {
  it.each([
    ["day", "Asia/Jakarta", "Asia/Makassar", "2026-11-27T16:00:00.000Z"],
    ["day", "Asia/Jakarta", "Asia/Jayapura", "2026-11-27T15:00:00.000Z"],
    ["day", "Asia/Jayapura", "Asia/Jakarta", "2026-11-26T17:00:00.000Z"],
    ["day", "Asia/Jakarta", "Asia/Bangkok", "2026-11-26T17:00:00.000Z"],
    ["month", "Asia/Jakarta", "Asia/Makassar", "2026-12-01T16:00:00.000Z"],
    ["month", "Asia/Jayapura", "Asia/Jakarta", "2026-11-30T17:00:00.000Z"],
    // An hour more than a day in the west: its first midnight is still of November.
    ["month", "Pacific/Kiritimati", "Pacific/Niue", "2026-12-01T11:00:00.000Z"],
    ["month", "Pacific/Niue", "Pacific/Kiritimati", "2026-12-02T10:00:00.000Z"],
    ["total", "Asia/Jakarta", "Asia/Jayapura", null],
  ] as const)("of a %s from %s to %s lets it last until %s", async (period, from, to, until) => {
    const start = "2026-11-26T09:00:00.000Z";
    const changed = "SELECT budget_until_in($1, $2, $3, $4) AS value";
    expect(iso(await valueOf<Date | null>(changed, [period, from, start, to]))).toBe(until);
    if (until === null) return;
    const before = new Date(Date.parse(until) - 1).toISOString();
    expect(await leftAt(period, start, to, until, before)).toBe(30n);
    expect(await leftAt(period, start, to, until, until)).toBe(100n);
    expect(await endAt(period, to, until, before)).toBe(until);
  });

  it("keeps what is spent and held, refuses on, and shows when it begins again", async () => {
    const key = await limitedKey(20n * UNIT, "day");
    const open = admission(key.accountId, key.keyId, 5n * UNIT);
    expect(await one.ledger.admit(open)).toMatchObject({ outcome: "granted" });
    expect(await spend(one, key, 15)).toBe("granted");
    const [inJakarta, neighbour] = [await stateOf(key), await limitedKey(20n * UNIT, "day")];
    for (const zone of ["Asia/Jayapura", "Asia/Jakarta", "Pacific/Niue", "America/Havana", "Asia/Makassar"]) {
      expect(await move(key.accountId, zone)).toBe(zone);
      const state = await stateOf(key);
      expect(state).toMatchObject({ spent: 15n * UNIT, held: 5n * UNIT, left: 0n, timeZone: zone });
      expect(state?.resetsAt?.getTime()).toBeGreaterThanOrEqual(inJakarta?.resetsAt?.getTime() ?? Number.NaN);
      // Alone, and together with others.
      const refused = { outcome: "over_budget", left: 0n, resetsAt: state?.resetsAt };
      expect(await one.ledger.admit(admission(key.accountId, key.keyId, 1n))).toMatchObject(refused);
      const asked = Array.from({ length: 8 }, () => other.ledger.admit(admission(key.accountId, key.keyId, 1n)));
      for (const outcome of await Promise.all(asked)) expect(outcome).toMatchObject(refused);
    }
    await one.ledger.settle(settlement(key.accountId, open.requestId, 5));
    expect(await stateOf(key)).toMatchObject({ spent: 20n * UNIT, held: 0n });
    expect(await stateOf(neighbour)).toMatchObject({ timeZone: "Asia/Jakarta", left: 20n * UNIT });
  });

  it("begins a budget that has ended already before it changes its zone", async () => {
    const key = await limitedKey(20n * UNIT, "day");
    expect(await spend(one, key, 20)).toBe("granted");
    await setup.pool.query("UPDATE api_key SET budget_start = budget_start - interval '3 days' WHERE id = $1", [
      key.keyId,
    ]);
    await move(key.accountId, "Asia/Jayapura");
    expect(await stateOf(key)).toMatchObject({ spent: 0n, left: 20n * UNIT });
    expect(await spend(other, key, 20)).toBe("granted");
    expect(await spend(other, key, 1)).toBe("over_budget");
  });

  it("holds for members' budgets and all keys, and for those that are set behind it", async () => {
    const key = await limitedKey(20n * UNIT, "month");
    const { accountId } = key;
    const member = { accountId, personId: uuidv7() };
    const ofMember = { accountId, keyId: await setup.key(accountId) };
    await setup.pool.query("UPDATE api_key SET person_id = $2 WHERE id = $1", [ofMember.keyId, member.personId]);
    await limitMember(member, "day");
    expect(await spend(one, ofMember, 18)).toBe("granted");
    await move(accountId, "Asia/Makassar");
    const { rows } = await setup.pool.query(
      `SELECT budget_zone FROM api_key WHERE account_id = $1 AND budget IS NOT NULL
       UNION ALL SELECT budget_zone FROM member_budget WHERE account_id = $1 UNION ALL SELECT budget_zone FROM account WHERE id = $1`,
      [accountId],
    );
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ budget_zone: "Asia/Makassar" })));
    const state = (await readMemberBudget(setup.pool, member))?.state;
    expect(state).toMatchObject({ spent: 18n * UNIT, left: 2n * UNIT, timeZone: "Asia/Makassar" });
    const request = admission(accountId, ofMember.keyId, 3n * UNIT);
    const refused = { outcome: "over_budget", of: "member", resetsAt: state?.resetsAt };
    expect(await one.ledger.admit(request)).toMatchObject(refused);
    const asked = Array.from({ length: 8 }, () => admission(accountId, ofMember.keyId, 3n * UNIT));
    for (const outcome of await Promise.all(asked.map((each) => other.ledger.admit(each))))
      expect(outcome).toMatchObject(refused);
    // Another period counts from now on, in the zone of the account, and lasts until its own end.
    await limit(key, 20n * UNIT, "day");
    await limitMember(member, "month");
    const later = { accountId, keyId: await setup.key(accountId) };
    await limit(later, 20n * UNIT, "day");
    const text = "SELECT count(*)::int AS value FROM api_key WHERE account_id = $1 AND budget_until IS NOT NULL";
    expect(await valueOf<number>(text, [accountId])).toBe(0);
    for (const each of [key, later]) expect(await stateOf(each)).toMatchObject({ timeZone: "Asia/Makassar" });
    expect((await readMemberBudget(setup.pool, member))?.state).toMatchObject({ spent: 0n, timeZone: "Asia/Makassar" });
    expect(await setup.audit()).toMatchObject(SOUND);
    await setup.pool.query("UPDATE api_key SET budget_zone = 'Asia/Jayapura' WHERE id = $1", [key.keyId]);
    expect(JSON.stringify(await setup.audit())).toContain("a budget has the zone of its account");
    await setup.pool.query("UPDATE api_key SET budget_zone = 'Asia/Makassar' WHERE id = $1", [key.keyId]);
  });

  it("there and back leaves the end as it was", async () => {
    // From Jakarta to Niue, where the day ends at eleven in the morning of Greenwich, and back.
    const begun = "2026-11-26T12:00:00.000Z";
    const MOVED = `
SELECT back.new_until AS value
FROM budget_in_zone('day', $1, 'Asia/Jakarta', NULL, NULL, 70, 'Pacific/Niue', $2) there
CROSS JOIN LATERAL budget_in_zone('day', there.new_start, 'Pacific/Niue', there.new_until, there.new_began_in, there.new_spent,
                                  'Asia/Jakarta', $3) back`;
    const values = [begun, "2026-11-26T13:00:00.000Z", "2026-11-26T14:00:00.000Z"];
    expect(iso(await valueOf<Date>(MOVED, values))).toBe("2026-11-26T17:00:00.000Z");
    const key = await limitedKey(20n * UNIT, "day");
    const before = await stateOf(key);
    await move(key.accountId, "Asia/Jayapura");
    await move(key.accountId, "Pacific/Niue");
    await move(key.accountId, "Asia/Jakarta");
    expect(await stateOf(key)).toEqual(before);
  });

  // From the far west to the far east a month begins on its third day: 26 are left of a February.
  it.each([
    ["day", 23, 20],
    ["month", 26 * 24 - 1, 300],
  ] as const)("makes no %s shorter than %d hours, however often it is changed", async (period, least, step) => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const zones = [
      "Asia/Jakarta",
      "Asia/Jayapura",
      "Pacific/Kiritimati",
      "Pacific/Niue",
      "America/Havana",
      "Asia/Beirut",
    ];
    const MOVE = `
SELECT new_start AS start, new_until AS until, new_began_in AS "beganIn" FROM budget_in_zone($1, $2, $3, $4, $5, 70, $6, $7)`;
    type State = { start: Date; until: Date | null; beganIn: string | null };
    let state: State = { start: new Date("2027-01-05T03:00:00Z"), until: null, beganIn: null };
    let [zone, atMs] = ["Asia/Jakarta", state.start.getTime()];
    const starts: number[] = [];
    for (let round = 0; round < 250; round += 1) {
      atMs += Math.floor(random() * step * 3_600_000);
      const next = zones[Math.floor(random() * zones.length)] ?? zone;
      const values = [period, state.start, zone, state.until, state.beganIn, next, new Date(atMs)];
      const moved = (await setup.pool.query<State>(MOVE, values)).rows[0] as State;
      if (moved.start > state.start) starts.push(moved.start.getTime());
      [state, zone] = [moved, next];
    }
    expect(starts.length, `seed ${seed}`).toBeGreaterThan(20);
    const hours = starts.slice(1).map((start, index) => (start - (starts[index] ?? 0)) / 3_600_000);
    expect(Math.min(...hours), `seed ${seed}`).toBeGreaterThanOrEqual(least);
  });
});

it("two processes at a midnight have each period's budget once", async () => {
  const key = await limitedKey(10n * UNIT, "day");
  // A zone whose next midnight is in a moment, in the notation of POSIX. No account can name it.
  const midnightMs = Math.ceil((Date.now() + 1_500) / 1_000) * 1_000;
  const aheadS = (86_400 - ((midnightMs / 1_000) % 86_400)) % 86_400;
  const pad = (part: number): string => String(Math.floor(part)).padStart(2, "0");
  const zone = `<near>-${pad(aheadS / 3_600)}:${pad((aheadS % 3_600) / 60)}:${pad(aheadS % 60)}`;
  await setup.pool.query("UPDATE api_key SET budget_zone = $2 WHERE id = $1", [key.keyId, zone]);
  expect((await stateOf(key))?.resetsAt).toEqual(new Date(midnightMs));
  let granted = 0;
  const work = async (process: TestProcess): Promise<void> => {
    for (let refusedBehind = 0; refusedBehind < 3;) {
      const startedMs = Date.now();
      if ((await spend(process, key, 1)) === "granted") granted += 1;
      else if (startedMs > midnightMs + 50) refusedBehind += 1;
    }
  };
  await Promise.all([one, one, other, other].map(work));
  const charged = `
SELECT array_agg(n ORDER BY is_behind) AS value FROM (
  SELECT settled_at >= $2 AS is_behind, count(*)::int AS n FROM usage_record WHERE account_id = $1 GROUP BY 1) t`;
  const [before = 0, behind = 0] = await valueOf<number[]>(charged, [key.accountId, new Date(midnightMs)]);
  expect([before, behind]).toEqual([10, 10]);
  expect(granted).toBe(20);
  expect(await stateOf(key)).toMatchObject({
    spent: 10n * UNIT,
    held: 0n,
    left: 0n,
    resetsAt: new Date(midnightMs + 86_400_000),
  });
  await setup.pool.query("UPDATE api_key SET budget_zone = NULL WHERE id = $1", [key.keyId]);
});
