// The drill: faults in turn while customers send requests and a merchant orders transfers, and then the comparison. What was
// acknowledged is charged, once and at the shown cost; no balance is negative; no order was carried out twice.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { busyUpstream, Load } from "../faults/load.ts";
import { Service } from "../faults/service.ts";
import { SOUND } from "../money/money-setup.ts";
import type { LogLine, SaldoProcess } from "../setup/saldo-process.ts";
import { Cluster } from "./cluster.ts";
import { type Fault, LEADER_FAULTS, OTHER_FAULTS } from "./faults.ts";
import { eventually } from "./machine.ts";
import { Orders } from "./orders.ts";

/** How long a fault lasts at least that leaves a leader. */
const LASTS_MS = 15_000;
/** How long answers must come again before a fault is over. */
const STEADY_MS = 2_000;

const failovers = Number(process.env["DRILL_FAILOVERS"]);
const clients = Number(process.env["DRILL_CLIENTS"]);
const tree = process.env["DRILL_TREE"] ?? "";

/** When answers came. */
class Answers {
  readonly #times: number[] = [];

  note(): void {
    this.#times.push(performance.now());
  }

  get last(): number {
    return this.#times.at(-1) ?? 0;
  }

  since(fromMs: number): number {
    return this.#times.filter((time) => time >= fromMs).length;
  }

  /** The longest time without an answer in a span, in seconds. */
  longestGap(fromMs: number, toMs: number): number {
    const within = [fromMs, ...this.#times.filter((time) => time >= fromMs && time <= toMs), toMs];
    return Math.max(...within.slice(1).map((time, index) => time - (within[index] ?? time))) / 1_000;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Causes a fault, waits until answers come again, ends it, and waits until all machines work. Returns the outage in seconds. */
async function drill(cluster: Cluster, answers: Answers, fault: Fault): Promise<number> {
  await cluster.untilWhole();
  await eventually("answers come", () => Promise.resolve(performance.now() - answers.last < 1_000));
  const leader = await cluster.leader();
  if (leader === null) throw new Error("a whole cluster has a leader");
  const beganMs = performance.now();
  const end = await fault.cause(cluster, leader);
  if (fault.leaderMayStay === true) {
    // Patroni starts it again where no standby is fit to lead at that moment. Answers that were under way still arrive.
    await sleep(STEADY_MS);
    await eventually("a leader is there", async () => (await cluster.leader()) !== null);
  } else if (fault.losesLeader) {
    await eventually("another leader is there", async () => (await cluster.leader(leader)) !== null);
  } else {
    await sleep(LASTS_MS);
    const since = answers.since(beganMs + STEADY_MS);
    if (fault.stopsCommits === true && since > 0)
      throw new Error(`${since} answers were acknowledged while ${fault.name}`);
    if (fault.stopsCommits === true) await end();
  }
  const backMs = performance.now();
  await eventually("answers come again", () => Promise.resolve(answers.last > backMs));
  await sleep(STEADY_MS);
  const outage = answers.longestGap(beganMs, performance.now());
  if (fault.stopsCommits !== true) await end();
  return outage;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2;
}

/** Faults of our own, which no fault of a database explains. */
function isFault({ level }: LogLine): boolean {
  return level === "error" || level === "fatal";
}

it("what was acknowledged before and during faults of the database is in the books", async () => {
  const folder = await mkdtemp(join(tmpdir(), "saldo-failover-drill-"));
  const cluster = await Cluster.start({ folder, tree });
  let service: Service | null = null;
  let nodes: SaldoProcess[] = [];
  try {
    const required = { SALDO_REQUIRE_SYNC_STANDBY: "1" };
    service = await Service.create(cluster.url, { DATABASE_URL: cluster.url, ...required });
    // One gateway knows all servers, the other one goes through HAProxy.
    nodes = [
      await service.node({ SALDO_DATA_DIR: join(folder, "gateway1") }),
      await service.node({ SALDO_DATA_DIR: join(folder, "gateway2"), DATABASE_URL: await cluster.proxyUrl() }),
    ];
    service.upstream.run(busyUpstream);
    const answers = new Answers();
    let asked = 0;
    const load = await Load.start(service, {
      clients,
      node: () => nodes[(asked += 1) % nodes.length],
      onAcknowledged: () => answers.note(),
    });
    const orders = await Orders.start(service.database);
    const outages: number[] = [];
    for (let number = 0; number < failovers; number += 1) {
      const lost = LEADER_FAULTS[number % LEADER_FAULTS.length] as Fault;
      const outage = await drill(cluster, answers, lost);
      outages.push(outage);
      print(`failover ${String(number + 1).padStart(3)}  ${outage.toFixed(1).padStart(6)} s  ${lost.name}`);
      const other = OTHER_FAULTS[number % OTHER_FAULTS.length] as Fault;
      print(`              ${(await drill(cluster, answers, other)).toFixed(1).padStart(6)} s  ${other.name}`);
    }
    await cluster.untilWhole();
    await load.stop();
    await orders.stop();
    const { database } = service;
    await eventually(
      "no hold is left",
      async () => (await database.pool.query("SELECT FROM hold LIMIT 1")).rowCount === 0,
    );
    await load.reckon();
    const { ordered, acknowledged, givenUp } = await orders.reckon();
    expect(await audit(database.pool, { topics: topicAudits() })).toEqual(SOUND);
    print(`${load.acknowledged} answers acknowledged, all charged once; ${load.failed} refused or broken off.`);
    const paid = `${ordered - givenUp} paid once, ${givenUp} given up and refunded`;
    print(`${ordered} transfers ordered, ${acknowledged} acknowledged at the first try: ${paid}.`);
    print(
      `Outage of ${outages.length} failovers: median ${median(outages).toFixed(1)} s, longest ${Math.max(...outages).toFixed(1)} s.`,
    );
    expect(median(outages)).toBeLessThan(30);
  } catch (error) {
    for (const line of nodes.flatMap(({ log }) => log.filter(isFault))) print(JSON.stringify(line));
    throw error;
  } finally {
    await service?.close();
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
