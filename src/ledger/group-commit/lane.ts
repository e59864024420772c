// A lane: one connection that commits the holds and settlements of many requests together. While one group is being committed the
// next one collects; there is no timer. A single request is sent at once. A lane promises: each member is answered once; a group
// that fails runs again member by member, so that one bad row never fails its neighbours; after a lost connection the lost
// backend is ended, then its written rows are read, and only members without them run again. Rows that cannot be read stop no others.

import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../database/database.ts";
import type { History } from "../../database/history.ts";
import { isDatabaseAway, isOutOfMeans, sqlState, sqlStates } from "../../database/transactions.ts";
import { ServiceBusy } from "../../kernel/errors.ts";
import { LaneConnection } from "./lane-connection.ts";
import { LaneQueue, type Waiting } from "./lane-queue.ts";
import type { LaneStatement } from "./lane-statement.ts";
import { transactionOf } from "./lane-transaction.ts";
import { LockedAccounts } from "./locked-accounts.ts";
import { answerAll, type Outcomes, outcomesOf, recall } from "./member-outcomes.ts";
import { UnreadMembers } from "./unread-members.ts";

const RECONNECT_PAUSE_MS = { first: 50, most: 1_000 };

/** Nothing was written, and another try may succeed. */
const RUN_AGAIN: ReadonlySet<string | undefined> = new Set([
  sqlStates.serializationFailure,
  sqlStates.deadlock,
  sqlStates.noSuchStatement,
  sqlStates.canceled,
]);

/** Counts for the metrics. */
export type LaneStatistics = { groups: number; members: number; replays: number; lostConnections: number };

export class Lane {
  readonly statistics: LaneStatistics = { groups: 0, members: 0, replays: 0, lostConnections: 0 };
  readonly #connection: LaneConnection;
  readonly #queue = new LaneQueue();
  readonly #locked: LockedAccounts;
  readonly #unread: UnreadMembers;
  #running = false;
  #closed = false;

  /** `onLost` is called when the connection is lost: members wait until there is another one. */
  constructor(database: Database, onLost: () => void = () => {}) {
    this.#connection = new LaneConnection(database, () => {
      this.statistics.lostConnections += 1;
      onLost();
    });
    this.#locked = new LockedAccounts(database.pool, (members) => this.#takeBack(members));
    this.#unread = new UnreadMembers(database.pool, (members) => this.#takeBack(members));
  }

  /** How many members wait. */
  get depth(): number {
    return this.#queue.length + this.#locked.waiting + this.#unread.waiting;
  }

  /** Whether there is no connection: members wait. */
  get isAway(): boolean {
    return !this.#connection.isOpen;
  }

  /** The history of the books that the lane commits to, as its last connection found it. */
  get history(): History | null {
    return this.#connection.history;
  }

  /** Opens the connection ahead of the first member. */
  async open(): Promise<void> {
    await this.#connection.get();
  }

  /**
   * Runs a member with the next group. Errors: ServiceBusy when the database is unavailable, the row stays locked or too many
   * members wait already.
   */
  submit<Member, Outcome>(statement: LaneStatement<Member, Outcome>, member: Member): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      if (this.#closed) return reject(new ServiceBusy());
      const since = performance.now();
      const waiting = {
        statement,
        member,
        resolve,
        reject,
        since,
        alone: statement.isAlwaysAlone?.(member) ?? false,
        perhapsWritten: false,
        isRecalled: false,
        attempts: 0,
      } as Waiting;
      if (this.#locked.join(waiting)) return;
      if (!this.#queue.add(waiting)) return reject(new ServiceBusy());
      this.#start();
    });
  }

  /** Finishes the waiting members, for as long as the limit allows, and closes the connection. */
  async close(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    while ((this.#running || this.depth > 0) && performance.now() < until) await sleep(5);
    this.#closed = true;
    this.#locked.close();
    this.#unread.close();
    this.#refuseAll();
    await this.#connection.close();
  }

  #refuseAll(): void {
    this.#queue.refuse(() => true, new Error("the lane was closed"));
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    try {
      let sent: Sent | null = null;
      // A member may have arrived between the end of one group and the next.
      while ((sent ??= this.#sendNext()) !== null) sent = await this.#finish(sent);
    } finally {
      this.#running = false;
    }
  }

  /** Sends the waiting members, before it returns if the connection is open. Null: none waits. */
  #sendNext(): Sent | null {
    const groups = this.#queue.nextGroups();
    return groups.length === 0 ? null : { groups, outcomes: this.#transact(groups) };
  }

  async #transact(groups: Waiting[][]): Promise<Outcomes[]> {
    if (!this.#connection.isOpen) await this.#connection.get();
    const wereLost = groups.some((group) => group.some(({ perhapsWritten }) => perhapsWritten));
    if (wereLost) await this.#recallLost(groups);
    const open = wereLost ? groups.filter((group) => group.length > 0) : groups;
    if (open.length === 0) return [];
    const transaction = transactionOf(open);
    for (const group of open) for (const waiting of group) waiting.perhapsWritten = true;
    const rows = transaction.rowsOf(await this.#connection.run(transaction.statements));
    this.statistics.groups += 1;
    return transaction.groups.map((group, index) => {
      this.statistics.members += group.length;
      return outcomesOf(group, (statement, members) => statement.outcomes(rows[index] ?? [], members));
    });
  }

  /**
   * Waits for the sent group, sends the members that arrived meanwhile, and only then answers: so the database works while the
   * answered callers continue. Returns the group it has sent.
   */
  async #finish({ groups, outcomes }: Sent): Promise<Sent | null> {
    let answers: Outcomes[];
    try {
      answers = await outcomes;
    } catch (error) {
      this.statistics.replays += 1;
      if (this.#isLost(error)) await this.#afterLostConnection(groups.flat(), error);
      else await this.#afterFailedStatement(groups.flat(), error);
      return null;
    }
    const repeated = answers.filter(({ unanswered }) => unanswered.length > 0);
    const next = repeated.length === 0 ? this.#sendNext() : null;
    for (const answered of answers) answerAll(answered);
    for (const { unanswered } of repeated) await this.#recallRepeated(unanswered);
    return next;
  }

  /** An earlier statement wrote them: a new statement reads them, with a snapshot that contains that commit. */
  async #recallRepeated(members: Waiting[]): Promise<void> {
    try {
      for (const waiting of await this.#recall(members)) waiting.reject(waiting.statement.missing(waiting.member));
    } catch (error) {
      this.statistics.replays += 1;
      await this.#afterLostConnection(members, error);
    }
  }

  /** Reads the results of members whose statement was lost, and leaves in the groups those that have yet to run. */
  async #recallLost(groups: readonly Waiting[][]): Promise<void> {
    for (const group of groups) {
      const lost = group.filter(({ perhapsWritten }) => perhapsWritten);
      if (lost.length === 0) continue;
      const unanswered = new Set(await this.#recall(lost));
      const open = group.filter((waiting) => unanswered.has(waiting) || !lost.includes(waiting));
      group.splice(0, group.length, ...open);
    }
  }

  /**
   * Answers the members of a kind whose row is written already, and returns those without one. Where the server refuses the reading,
   * they are kept apart. Errors: those of a lost connection.
   */
  async #recall(group: Waiting[]): Promise<Waiting[]> {
    try {
      if (!this.#connection.isOpen) await this.#connection.get();
      const outcomes = await recall((statements) => this.#connection.run(statements), group);
      answerAll(outcomes);
      return outcomes.unanswered;
    } catch (error) {
      if (this.#isLost(error)) throw error;
      this.statistics.replays += 1;
      this.#unread.add(group);
      return [];
    }
  }

  /** Whether the connection is lost: what was sent may be written. All other errors are answers of the server. */
  #isLost(error: unknown): boolean {
    return !this.#connection.isOpen || isDatabaseAway(error);
  }

  /** The sent statement may have been written. Its rows are read once the lost backend has certainly ended. */
  async #afterLostConnection(group: Waiting[], error: unknown): Promise<void> {
    this.#connection.drop();
    // Their recall was lost as well: where the standby does not confirm, each one is.
    const recalled = new Set(group.filter(({ isRecalled }) => isRecalled));
    this.#queue.putBack(group);
    if (this.#closed) return this.#refuseAll();
    this.#queue.refuse((waiting) => recalled.has(waiting) && isOutOfPatience(waiting), error);
    if (recalled.size > 0) await sleep(RECONNECT_PAUSE_MS.first);
    for (let pauseMs = RECONNECT_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, RECONNECT_PAUSE_MS.most)) {
      try {
        await this.#connection.get();
        return;
      } catch (reason) {
        this.#queue.refuse(isOutOfPatience, reason);
        if (this.#queue.length === 0) return;
        await sleep(pauseMs);
      }
    }
  }

  /** Nothing was written. Members run again one by one; a single member's own error is its answer, unless it is temporary. */
  async #afterFailedStatement(group: Waiting[], error: unknown): Promise<void> {
    const code = sqlState(error);
    const [first] = group;
    if (first === undefined) return;
    for (const waiting of group) waiting.perhapsWritten = false;
    if (code === sqlStates.lockTimeout && (await this.#setLockedApart(group))) return;
    if (group.length === 1) {
      first.attempts += 1;
      if (isOutOfMeans(error)) return first.reject(new ServiceBusy(undefined, { cause: error }));
      // A replay met a row that our own statement has written after all.
      if (code === sqlStates.uniqueViolation) first.perhapsWritten = true;
      else if (!RUN_AGAIN.has(code)) return first.reject(error);
      if (first.attempts >= first.statement.maxAttempts)
        return first.reject(new ServiceBusy(undefined, { cause: error }));
    }
    for (const waiting of group) waiting.alone = true;
    this.#queue.putBack(group);
  }

  /** Sets the members of locked accounts apart; the others run again. False: the locked accounts are unknown. */
  async #setLockedApart(group: Waiting[]): Promise<boolean> {
    const accounts = new Set(group.map(accountOf));
    // A single member has met the lock itself, perhaps that of its key.
    const locked = group.length === 1 ? accounts : await this.#locked.find([...accounts]);
    if (locked.size === 0) return false;
    const isLocked = (waiting: Waiting): boolean => locked.has(accountOf(waiting));
    const apart = [...group.filter(isLocked), ...this.#queue.take(isLocked)];
    for (const account of locked)
      this.#locked.add(
        account,
        apart.filter((waiting) => accountOf(waiting) === account),
      );
    this.#queue.putBack(group.filter((waiting) => !isLocked(waiting)));
    return true;
  }

  /** The rows of these accounts are free again. */
  #takeBack(members: readonly Waiting[]): void {
    for (const waiting of members) waiting.alone = waiting.statement.isAlwaysAlone?.(waiting.member) ?? false;
    this.#queue.putBack(members);
    this.#start();
  }
}

/** A sent transaction, and its result. */
type Sent = { readonly groups: Waiting[][]; readonly outcomes: Promise<Outcomes[]> };

/** Whether a member has waited for the database for as long as its kind does. */
function isOutOfPatience({ statement, since }: Waiting): boolean {
  return performance.now() - since > statement.awayPatienceMs;
}

function accountOf({ member }: Waiting): string {
  return member.accountId;
}
