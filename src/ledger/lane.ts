// A lane: one connection on which the holds and settlements of many requests are committed together. While one group is
// being committed the next one collects; there is no timer. A request that is alone is sent at once.
// What a lane promises: each member is answered once; a group that fails runs again member by member, so that one bad row
// never fails its neighbours; after a lost connection the lost backend is ended, then what it wrote is read, and only what
// it did not write runs again.

import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import { isDatabaseAway, isOutOfMeans, sqlState, sqlStates } from "../database/transactions.ts";
import { UpstreamBusy } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";
import { LaneConnection } from "./lane-connection.ts";
import { LaneQueue, mayJoin, type Waiting } from "./lane-queue.ts";
import type { LaneStatement } from "./lane-statement.ts";
import { transactionOf } from "./lane-transaction.ts";

const RECONNECT_PAUSE_MS = { first: 50, most: 1_000 };
/** How long an account whose row stays locked is left alone before one of its members tries again. */
const PARKING_MS = { first: 250, most: 2_000 };

/** Nothing was written, and another try may do better. */
const RUN_AGAIN: ReadonlySet<string | undefined> = new Set([
  sqlStates.serializationFailure,
  sqlStates.deadlock,
  sqlStates.noSuchStatement,
]);

/** Counts for the metrics. */
export type LaneStatistics = { groups: number; members: number; replays: number; lostConnections: number };

export class Lane {
  readonly statistics: LaneStatistics = { groups: 0, members: 0, replays: 0, lostConnections: 0 };
  readonly #connection: LaneConnection;
  readonly #queue = new LaneQueue();
  /** Members of accounts whose row is locked by somebody else, in order. They wait apart, so that others need not. */
  readonly #parked = new Map<string, Parked>();
  #running = false;
  #closed = false;

  constructor(database: Database) {
    this.#connection = new LaneConnection(database, () => (this.statistics.lostConnections += 1));
  }

  /** How many members wait. */
  get depth(): number {
    let parked = 0;
    for (const { members } of this.#parked.values()) parked += members.length;
    return this.#queue.length + parked;
  }

  /** Opens the connection ahead of the first member. */
  async open(): Promise<void> {
    await this.#connection.get();
  }

  /**
   * Runs a member with the next group. Errors: UpstreamBusy when the database is away, the row stays locked or too many
   * wait already.
   */
  submit<Member, Outcome>(statement: LaneStatement<Member, Outcome>, member: Member): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      if (this.#closed) return reject(new UpstreamBusy());
      const since = performance.now();
      const waiting = {
        statement,
        member,
        resolve,
        reject,
        since,
        alone: false,
        perhapsWritten: false,
        attempts: 0,
      } as Waiting;
      const parked = this.#parked.get(accountOf(waiting));
      if (parked !== undefined && mayJoin(parked.members, waiting)) return void parked.members.push(waiting);
      if (parked !== undefined) return reject(new UpstreamBusy());
      if (!this.#queue.add(waiting)) return reject(new UpstreamBusy());
      this.#start();
    });
  }

  /** Finishes what waits, for as long as the limit allows, and closes the connection. */
  async close(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    while ((this.#running || this.depth > 0) && performance.now() < until) await sleep(5);
    this.#closed = true;
    for (const account of this.#parked.keys()) this.#unpark(account);
    this.#queue.refuse(() => true, new Error("the lane was closed"));
    await this.#connection.close();
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    try {
      for (let groups = this.#queue.nextGroups(); groups.length > 0; groups = this.#queue.nextGroups()) {
        await this.#commit(groups);
      }
    } finally {
      this.#running = false;
    }
  }

  async #commit(groups: Waiting[][]): Promise<void> {
    try {
      const connection = await this.#connection.get();
      const open = await this.#recallLost(connection, groups);
      if (open.length === 0) return;
      const transaction = transactionOf(open);
      const rows = transaction.rowsOf(await connection.run(transaction.statements));
      this.statistics.groups += 1;
      for (const [index, group] of transaction.groups.entries()) {
        this.statistics.members += group.length;
        const unanswered = this.#answerAll(group, (statement, members) =>
          statement.outcomes(rows[index] ?? [], members),
        );
        // Somebody else wrote it before: that is read in a new statement, which sees what the other one committed.
        for (const waiting of unanswered.length === 0 ? [] : await this.#recall(connection, unanswered)) {
          waiting.reject(waiting.statement.missing(waiting.member));
        }
      }
    } catch (error) {
      this.statistics.replays += 1;
      const open = groups.flat().filter(({ answered }) => answered !== true);
      if (!this.#connection.isOpen || isDatabaseAway(error)) await this.#afterLostConnection(open);
      else this.#afterFailedStatement(open, error);
    }
  }

  /** Asks for those whose statement was lost; gives the groups of those that have yet to run. */
  async #recallLost(connection: LaneConnection, groups: Waiting[][]): Promise<Waiting[][]> {
    const open: Waiting[][] = [];
    for (const group of groups) {
      const wasLost = group.some(({ perhapsWritten }) => perhapsWritten);
      open.push(wasLost ? await this.#recall(connection, group) : group);
    }
    return open.filter((group) => group.length > 0);
  }

  /** Answers those of a kind whose row is there already and gives the others. */
  async #recall(connection: LaneConnection, group: Waiting[]): Promise<Waiting[]> {
    const statement = group[0]?.statement;
    invariant(statement !== undefined, "a group has a member");
    const [rows = []] = await connection.run([statement.recall(group.map(({ member }) => member))]);
    for (const waiting of group) waiting.perhapsWritten = false;
    return this.#answerAll(group, (_, members) => statement.recalled(rows, members));
  }

  /** Answers the members that have an outcome and gives the others. */
  #answerAll(group: Waiting[], read: (statement: AnyStatement, members: AnyMember[]) => unknown[]): Waiting[] {
    const statement = group[0]?.statement;
    invariant(statement !== undefined, "a group has a member");
    const outcomes = read(
      statement,
      group.map(({ member }) => member),
    );
    return group.filter((waiting, index) => {
      const outcome = outcomes[index];
      if (outcome !== undefined) this.#answer(waiting, outcome);
      return outcome === undefined;
    });
  }

  #answer(waiting: Waiting, outcome: unknown): void {
    waiting.answered = true;
    waiting.resolve(outcome);
    if (this.#parked.size > 0) this.#unpark(accountOf(waiting));
  }

  /** What was sent may have been written. It is asked for once the lost backend is known to be gone. */
  async #afterLostConnection(group: Waiting[]): Promise<void> {
    this.#connection.drop();
    for (const waiting of group) waiting.perhapsWritten = true;
    this.#queue.putBack(group);
    for (let pauseMs = RECONNECT_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, RECONNECT_PAUSE_MS.most)) {
      try {
        await this.#connection.get();
        return;
      } catch (reason) {
        this.#queue.refuse(({ statement, since }) => performance.now() - since > statement.awayPatienceMs, reason);
        if (this.#queue.length === 0) return;
        await sleep(pauseMs);
      }
    }
  }

  /** Nothing was written. Members run again one by one; a lone member's own error is its answer, unless it may pass. */
  #afterFailedStatement(group: Waiting[], error: unknown): void {
    const code = sqlState(error);
    const [first] = group;
    if (first === undefined) return;
    if (group.length === 1) {
      first.attempts += 1;
      if (code === sqlStates.lockTimeout) return this.#park(first, error);
      if (isOutOfMeans(error)) return first.reject(new UpstreamBusy(undefined, { cause: error }));
      // A replay met a row that a statement of ours has written after all.
      if (code === sqlStates.uniqueViolation) first.perhapsWritten = true;
      else if (!RUN_AGAIN.has(code)) return first.reject(error);
      if (first.attempts >= first.statement.maxAttempts)
        return first.reject(new UpstreamBusy(undefined, { cause: error }));
    }
    for (const waiting of group) waiting.alone = true;
    this.#queue.putBack(group);
  }

  /** Somebody holds the account's row: all its members wait apart, and one tries again after a while. */
  #park(waiting: Waiting, cause: unknown): void {
    const account = accountOf(waiting);
    const parked = this.#parked.get(account) ?? { members: [], pauseMs: PARKING_MS.first / 2, timer: undefined };
    this.#parked.set(account, parked);
    parked.pauseMs = Math.min(parked.pauseMs * 2, PARKING_MS.most);
    const members = [waiting, ...this.#queue.take((other) => accountOf(other) === account), ...parked.members];
    parked.members = members.filter(({ since, statement, reject }) => {
      const mayWait = performance.now() - since <= statement.lockPatienceMs;
      if (!mayWait) reject(new UpstreamBusy(undefined, { cause }));
      return mayWait;
    });
    this.#tryLater(account, parked);
  }

  #tryLater(account: string, parked: Parked): void {
    clearTimeout(parked.timer);
    parked.timer = setTimeout(() => {
      const probe = parked.members.shift();
      if (probe === undefined) {
        this.#parked.delete(account);
        return;
      }
      probe.alone = true;
      this.#queue.putBack([probe]);
      this.#start();
      // Should the probe end without news of the row, the next one brings them.
      this.#tryLater(account, parked);
    }, parked.pauseMs);
  }

  /** The row is free again. */
  #unpark(account: string): void {
    const parked = this.#parked.get(account);
    if (parked === undefined) return;
    clearTimeout(parked.timer);
    this.#parked.delete(account);
    for (const waiting of parked.members) waiting.alone = false;
    this.#queue.putBack(parked.members);
    this.#start();
  }
}

type Parked = { members: Waiting[]; pauseMs: number; timer: NodeJS.Timeout | undefined };

type AnyMember = Waiting["member"];
type AnyStatement = Waiting["statement"];

function accountOf({ member }: Waiting): string {
  return member.accountId;
}
