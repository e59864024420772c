import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgetLongDead, listOldHolds, recoverHolds } from "../../src/ledger/recovery.ts";
import { holdTicks, SteadyBooks, sweepOwnHolds } from "../../src/ledger/jobs/holds.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

describe.each(testBackends())("process leases and recovery on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterAll(() => setup.close());

  /** Moves a process's times into the past, as if so many seconds had gone by without a renewal. */
  const age = ({ lease }: TestProcess, seconds: number) =>
    setup.pool.query(
      `UPDATE process SET renewed_at = renewed_at - $2 * interval '1 second', expires_at = expires_at - $2 * interval '1 second',
         gapless_since = gapless_since - $2 * interval '1 second' WHERE id = $1`,
      [lease.processId, seconds],
    );
  /** A process that has renewed without a gap for longer than a term. */
  async function steadyProcess(): Promise<TestProcess> {
    const process = await setup.process();
    await setup.pool.query("UPDATE process SET gapless_since = gapless_since - interval '1 minute' WHERE id = $1", [
      process.lease.processId,
    ]);
    return process;
  }
  async function placed(process: TestProcess) {
    const account = await setup.account(1_000_000n);
    const request = admission(account, await setup.key(account), 400_000n);
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    return { account, request };
  }

  it("leaves a process alone whose lease has not run out", async () => {
    const [sweeper, living] = [await steadyProcess(), await setup.process()];
    await age(living, 19);
    expect(await sweeper.lease.expireDeadProcesses()).toEqual([]);
    await living.lease.renew();
  });

  it("declares a process with an ended lease dead, and only after a term without a gap of its own", async () => {
    const victim = await setup.process();
    await age(victim, 21);
    const newcomer = await setup.process();
    expect(await newcomer.lease.expireDeadProcesses()).toEqual([]);
    const sweeper = await steadyProcess();
    expect(await sweeper.lease.expireDeadProcesses()).toEqual([victim.lease.processId]);
  });

  it("starts a new term after a gap, such as an outage of the database", async () => {
    const [late, victim] = [await steadyProcess(), await setup.process()];
    await setup.pool.query("UPDATE process SET renewed_at = renewed_at - interval '12 s' WHERE id = $1", [
      late.lease.processId,
    ]);
    await age(victim, 21);
    await late.lease.renew();
    expect(await late.lease.expireDeadProcesses()).toEqual([]);
    expect(await (await steadyProcess()).lease.expireDeadProcesses()).toEqual([victim.lease.processId]);
  });

  it("resolves the holds of a dead process once, with their recorded progress, and no others", async () => {
    const [victim, living, sweeper] = [await setup.process(), await setup.process(), await steadyProcess()];
    const [lost, kept] = [await placed(victim), await placed(living)];
    await setup.pool.query("UPDATE hold SET progress_input_tokens = 10, progress_output_tokens = 2 WHERE id = $1", [
      lost.request.requestId,
    ]);
    await age(victim, 21);
    await sweeper.lease.expireDeadProcesses();
    expect(await recoverHolds(setup.pool)).toBe(1);
    expect(await recoverHolds(setup.pool)).toBe(0);
    expect(await setup.balance(lost.account)).toEqual({ posted: 920_000n, held: 0n, available: 920_000n });
    expect(await setup.balance(kept.account)).toMatchObject({ held: 400_000n });
    const { rows } = await setup.pool.query("SELECT basis, charge FROM usage_record WHERE request_id = $1", [
      lost.request.requestId,
    ]);
    expect(rows).toEqual([{ basis: "recovered", charge: 80_000n }]);
    await living.ledger.settle(settlement(kept.account, kept.request.requestId, 1));
  });

  it("charges no more than the hold, and posts the rest of the recorded cost as our loss", async () => {
    const [victim, sweeper] = [await setup.process(), await steadyProcess()];
    const { account, request } = await placed(victim);
    await setup.pool.query("UPDATE hold SET progress_input_tokens = 100 WHERE id = $1", [request.requestId]);
    await age(victim, 21);
    await sweeper.lease.expireDeadProcesses();
    expect(await recoverHolds(setup.pool)).toBe(1);
    expect(await setup.balance(account)).toEqual({ posted: 600_000n, held: 0n, available: 600_000n });
    const { rows } = await setup.pool.query("SELECT amount, reason FROM posting WHERE id = $1", [request.requestId]);
    expect(rows).toEqual([{ amount: "100000", reason: "uncollected" }]);
  });

  it("lets a process that was declared dead only post the difference, ends its requests, and continues under a new id", async () => {
    const [zombie, sweeper] = [await setup.process(), await steadyProcess()];
    const term = zombie.lease.term();
    let ended = 0;
    term.whenOver(() => (ended += 1));
    const { account, request } = await placed(zombie);
    await age(zombie, 21);
    await sweeper.lease.expireDeadProcesses();
    await recoverHolds(setup.pool);
    const settled = { cost: 250_000n, charge: 250_000n, late: "posted" };
    expect(await zombie.ledger.settle(settlement(account, request.requestId, 50))).toEqual(settled);
    expect(await setup.balance(account)).toEqual({ posted: 750_000n, held: 0n, available: 750_000n });

    const late = admission(account, await setup.key(account), 100n);
    await zombie.ledger.admit(late); // still under the dead id
    expect(await recoverHolds(setup.pool)).toBe(1);
    const dead = zombie.lease.processId;
    expect([term.isOver(), ended]).toEqual([false, 0]);
    await zombie.lease.renew();
    expect(zombie.lease.processId).not.toBe(dead);
    expect([term.isOver(), ended, zombie.lease.term().isOver()]).toEqual([true, 1, false]);
  });

  it("lets only one of a simultaneous recovery and settlement win", async () => {
    const [victim, sweeper] = [await setup.process(), await steadyProcess()];
    const holds = await Promise.all(Array.from({ length: 20 }, () => placed(victim)));
    await age(victim, 21);
    await sweeper.lease.expireDeadProcesses();
    const [, ...settled] = await Promise.all([
      recoverHolds(setup.pool),
      ...holds.map(({ account, request }) => victim.ledger.settle(settlement(account, request.requestId, 3))),
    ]);
    for (const [index, { account }] of holds.entries()) {
      const charge = settled[index]?.charge ?? -1n;
      expect([0n, 15_000n]).toContain(charge);
      expect(await setup.balance(account)).toEqual({
        posted: 1_000_000n - charge,
        held: 0n,
        available: 1_000_000n - charge,
      });
    }
  });

  it("releases an old hold of its own that it does not know, and keeps those it knows", async () => {
    const process = await setup.process();
    const [known, forgotten] = [await placed(process), await placed(process)];
    await process.ledger.release({ accountId: forgotten.account, requestId: forgotten.request.requestId });
    await setup.asOwner("ALTER TABLE usage_record DISABLE TRIGGER append_only");
    await setup.asOwner(`DELETE FROM usage_record WHERE request_id = '${forgotten.request.requestId}'`);
    await setup.asOwner("ALTER TABLE usage_record ENABLE ALWAYS TRIGGER append_only");
    // As after a lost admission: on the account, and in no process's memory.
    await setup.pool.query(
      `INSERT INTO hold SELECT $1, $2, owner, amount, $4, model, input_price, output_price, cache_hit_price, 0, 0 FROM hold WHERE id = $3`,
      [forgotten.account, forgotten.request.requestId, known.request.requestId, forgotten.request.keyId],
    );
    await setup.pool.query("UPDATE account SET held = held + 400000, open_holds = open_holds + 1 WHERE id = $1", [
      forgotten.account,
    ]);
    expect(await sweepOwnHolds({ ...process, pool: setup.pool })).toBe(0);
    await setup.pool.query("UPDATE hold SET placed_at = placed_at - interval '61 s' WHERE owner = $1", [
      process.lease.processId,
    ]);
    expect(await listOldHolds(setup.pool, process.lease.processId)).toHaveLength(2);
    expect(await sweepOwnHolds({ ...process, pool: setup.pool })).toBe(1);
    expect(await setup.balance(forgotten.account)).toMatchObject({ held: 0n, posted: 1_000_000n });
    expect(await setup.balance(known.account)).toMatchObject({ held: 400_000n });
    await process.ledger.release({ accountId: known.account, requestId: known.request.requestId });
  });

  it("waits once in a round for an account that is locked, however many holds it has, and resolves the others", async () => {
    const [victim, sweeper] = [await setup.process(), await steadyProcess()];
    const locked = await placed(victim);
    for (let more = 0; more < 4; more += 1)
      await victim.ledger.admit(admission(locked.account, locked.request.keyId, 100n));
    const free = await placed(victim);
    await age(victim, 21);
    await sweeper.lease.expireDeadProcesses();
    let tries = 0;
    const counting = {
      query: (text: string, values: unknown[]) => {
        if (text.includes("DELETE FROM hold")) tries += 1;
        return setup.pool.query(text, values);
      },
    } as unknown as Pool;
    const lock = await setup.lockRow("account", locked.account);
    expect(await recoverHolds(counting)).toBe(1);
    await lock.release();
    expect((await setup.balance(free.account)).held).toBe(0n);
    // All at once, then each of the two accounts.
    expect(tries).toBe(3);
    expect(await recoverHolds(setup.pool)).toBe(5);
  });

  it("resolves all other holds beside one that the books refuse: the clock has stepped back by more than a day since it was placed", async () => {
    const [victim, sweeper] = [await setup.process(), await steadyProcess()];
    const early = await placed(victim);
    const beside = admission(early.account, early.request.keyId, 100n);
    await victim.ledger.admit(beside);
    const others = [await placed(victim), await placed(victim)];
    const ahead = async (days: number) => {
      const { requestId } = early.request;
      const [row] = (await setup.asOwner(
        `SELECT uuid_floor(clock_timestamp() + interval '${days} days') AS id, clock_timestamp() + interval '${days} days' AS at`,
      )) as { id: string; at: Date }[];
      const id = `${row?.id.slice(0, 14)}${requestId.slice(14)}`;
      await setup.asOwner(
        `UPDATE hold SET id = '${id}', placed_at = '${row?.at.toISOString()}' WHERE account_id = '${early.account}' AND id <> '${beside.requestId}'`,
      );
      return id;
    };
    const id = await ahead(3);
    await age(victim, 21);
    await sweeper.lease.expireDeadProcesses();
    const refused: unknown[] = [];
    const recover = () => recoverHolds(setup.pool, { onRefused: (hold) => refused.push(hold) });
    expect(await recover()).toBe(3);
    expect(refused).toEqual([{ accountId: early.account, requestId: id }]);
    for (const { account } of others) expect(await setup.balance(account)).toMatchObject({ held: 0n });
    expect(await setup.balance(early.account)).toMatchObject({ held: 400_000n });
    // Each round names it, and the one behind which the clock is right again resolves it.
    const [recovering] = holdTicks({ ...sweeper, pool: setup.pool }).filter(({ name }) => name === "recover holds");
    await expect(recovering?.run(new AbortController().signal)).rejects.toThrow(id);
    await ahead(0);
    expect(await recover()).toBe(1);
    expect(await setup.balance(early.account)).toEqual({ posted: 1_000_000n, held: 0n, available: 1_000_000n });
  });

  it("deletes processes that have been dead for a day, but none with an open hold", async () => {
    const dead = async (deadFor: string) => {
      const process = await setup.process();
      await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() - $2::interval WHERE id = $1", [
        process.lease.processId,
        deadFor,
      ]);
      return process;
    };
    const [old, holding, young] = [await dead("25 hours"), await dead("25 hours"), await dead("23 hours")];
    const living = await setup.process();
    await age(living, 48 * 3_600);
    const { account } = await placed(holding);
    expect(await forgetLongDead(setup.pool)).toBe(1);
    const { rows } = await setup.pool.query<{ id: string }>("SELECT id FROM process");
    const known = new Set(rows.map(({ id }) => id));
    expect([old, holding, young, living].map(({ lease }) => known.has(lease.processId))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    // A process that wakes up without its row is as dead as before: its holds are released, and it continues under a new id.
    const late = await placed(old);
    // Until a term has passed the books may have lost its row, and then it lives.
    expect(await recoverHolds(setup.pool, { withoutRow: false })).toBe(1);
    expect((await setup.balance(late.account)).held).toBeGreaterThan(0n);
    expect(await recoverHolds(setup.pool)).toBe(1);
    for (const each of [account, late.account]) expect((await setup.balance(each)).held).toBe(0n);
    const forgotten = old.lease.processId;
    await old.lease.renew();
    expect(old.lease.processId).not.toBe(forgotten);
    expect(await forgetLongDead(setup.pool)).toBe(1);
  });

  it("trusts a missing row once the books have continued one history for a term", async () => {
    let nowMs = 0;
    let timeline = 1;
    const pool = { query: () => Promise.resolve({ rows: [{ system: "1", timeline }] }) } as unknown as Pool;
    const books = new SteadyBooks(pool, () => nowMs);
    const looks: boolean[] = [];
    for (const [atMs, on] of [
      [0, 1],
      [20_000, 1],
      [20_001, 1],
      [20_002, 2],
      [40_002, 2],
      [40_003, 2],
    ] as const) {
      [nowMs, timeline] = [atMs, on];
      looks.push(await books.areSteady());
    }
    expect(looks).toEqual([false, false, true, false, false, true]);
  });

  it("keeps the books in order through all of this", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
