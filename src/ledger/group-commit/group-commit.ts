// The ledger's implementation for chat requests: admissions, extensions and settlements run in lanes by account. So one account's
// requests are decided in one place, and two lanes of a process never wait for each other's rows.

import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../database/database.ts";
import { brokenConstraint, isDatabaseAway, isOutOfMeans, sqlState, sqlStates } from "../../database/transactions.ts";
import { billingDay } from "../../kernel/clock.ts";
import { ServiceBusy } from "../../kernel/errors.ts";
import { failpoint } from "../../kernel/failpoint.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import { invariant, InvariantError } from "../../kernel/invariant.ts";
import { admissionStatement } from "./admission.ts";
import { Lane, type LaneStatistics } from "./lane.ts";
import { extensionStatement } from "./extension.ts";
import type {
  Admission,
  AdmissionRequest,
  Extension,
  ExtensionRequest,
  Ledger,
  SettledUsage,
  Settlement,
} from "../ledger.ts";
import { postLateUsage } from "../late-usage.ts";
import type { OwedSpool } from "./owed-spool.ts";
import { settlementStatement } from "./settlement.ts";

export type GroupCommitOptions = {
  readonly database: Database;
  /** The process that owns the hold of this request. Errors: ServiceBusy, while it may own none. */
  readonly owner: (requestId: string) => string;
  /** How many connections commit. One or two on small machines. */
  readonly lanes: number;
  /** Stores owed settlements beyond the life of this process. Without it they are lost with the process. */
  readonly spool?: OwedSpool;
  /** Called with each settlement that came after a recovery of its request. */
  readonly onLate?: (late: LateSettlement) => void;
  /** Called with the database's error for each request whose id's time it refuses: the clocks are wrong. */
  readonly onMisdated?: (error: unknown) => void;
};

/** A settlement that came after a recovery of its request, in micro-rupiah. */
export type LateSettlement = Required<SettledUsage> & { readonly requestId: string; readonly accountId: string };

/** What a hold breaks whose id is of a future day, or of a month whose records are in the archive. */
const REFUSE_IDS: ReadonlySet<string | undefined> = new Set(["hold_id_has_begun", "id_is_at_hand"]);

/** How long a stop waits for running commits. What is left then is in the spool. */
const CLOSE_LIMIT_MS = 2_000;

export type LedgerStatistics = LaneStatistics & {
  /** Members waiting for a group. */
  readonly depth: number;
  /** Holds of this process. */
  readonly open: number;
  /** Settlements that the database has not taken yet. */
  readonly owed: number;
  /** Micro-rupiah of cost that no balance covered. */
  readonly uncollected: bigint;
  /** Settlements that came after a recovery of their request. */
  readonly late: number;
  /** Requests whose id's time the database refused. */
  readonly misdated: number;
  /** Writes of owed settlements that the disk did not take. They are repeated. */
  readonly owedFailedWrites: number;
  /** Files of owed settlements that have lines which cannot be read. */
  readonly owedDamagedFiles: number;
};

export class GroupCommitLedger implements Ledger {
  readonly #database: Database;
  readonly #owner: GroupCommitOptions["owner"];
  readonly #spool: OwedSpool | null;
  readonly #onLate: (late: LateSettlement) => void;
  readonly #onMisdated: (error: unknown) => void;
  readonly #lanes: readonly Lane[];
  /** Requests whose holds this process has placed, or may have placed, and has not settled. */
  readonly #open = new Set<string>();
  /** Settlements of delivered answers that the database did not take in time. They are retried until it does. */
  readonly #owed = new Map<string, Settlement>();
  /** Settlements of delivered answers that wait for the database, and have not waited too long yet. */
  readonly #settling = new Map<string, Settlement>();
  /** Those in the spool. */
  readonly #stored = new Set<string>();
  #uncollected = 0n;
  #late = 0;
  #misdated = 0;

  constructor({ database, owner, lanes, spool, onLate = () => {}, onMisdated = () => {} }: GroupCommitOptions) {
    invariant(lanes >= 1, "there is at least one lane");
    this.#database = database;
    this.#onLate = onLate;
    this.#onMisdated = onMisdated;
    this.#spool = spool ?? null;
    this.#owner = owner;
    this.#lanes = Array.from({ length: lanes }, (_, index) => new Lane(database, () => this.#storeWaiting(index)));
  }

  async open(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.open()));
  }

  /**
   * Takes over the owed settlements of ended processes; they are retried like this one's. Those that belong to another history of the
   * books are left where they are, and counted, as are lines that cannot be read. Call it behind `open`.
   */
  async takeOverOwed(): Promise<{ readonly taken: number; readonly foreign: number; readonly damaged: number }> {
    const history = this.#lanes[0]?.history ?? null;
    if (history === null || this.#spool === null) return { taken: 0, foreign: 0, damaged: 0 };
    const { taken, foreign, damaged } = await this.#spool.takeOver(history);
    for (const settlement of taken) {
      this.#owed.set(settlement.requestId, settlement);
      this.#stored.add(settlement.requestId);
    }
    return { taken: taken.length, foreign, damaged };
  }

  /** Commits the waiting members, for as long as the limit allows. */
  async close(limitMs = CLOSE_LIMIT_MS): Promise<void> {
    const until = performance.now() + limitMs;
    await Promise.race([this.settleOwed(), sleep(limitMs, undefined, { ref: false })]);
    await Promise.all(this.#lanes.map((lane) => lane.close(Math.max(0, until - performance.now()))));
    // Callers that wait for a refused settlement record it as owed first.
    await setImmediate();
    await this.#spool?.flush();
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    invariant(0n <= request.leastAmount && request.leastAmount <= request.amount, "a hold has a useful least amount");
    const member = { ...request, owner: this.#owner(request.requestId) };
    this.#open.add(request.requestId);
    let placed = false;
    try {
      const decision = await this.#laneOf(request.accountId).submit(admissionStatement, member);
      placed = decision.outcome === "granted";
      if (placed) failpoint?.("after-hold-commit");
      return decision;
    } catch (error) {
      if (!REFUSE_IDS.has(brokenConstraint(error))) throw error;
      // The database's clock is as wrong as this machine's: nothing was held, and once it is right the caller's retry gets another id.
      this.#misdated += 1;
      this.#onMisdated(error);
      throw new ServiceBusy(undefined, { cause: error });
    } finally {
      if (!placed) this.#open.delete(request.requestId);
    }
  }

  async extend(request: ExtensionRequest): Promise<Extension> {
    invariant(request.leastAmount <= request.amount, "an extension has a useful least amount");
    return this.#laneOf(request.accountId).submit(extensionStatement, request);
  }

  async settle(settlement: Settlement): Promise<SettledUsage> {
    const lane = this.#laneOf(settlement.accountId);
    if (settlement.delivered) {
      this.#settling.set(settlement.requestId, settlement);
      if (lane.isAway) this.#store(settlement);
    }
    try {
      const written = await lane.submit(settlementStatement, settlement);
      const { isRecovered, ...usage } = written;
      const settled = isRecovered ? await this.#settleLate(settlement) : usage;
      // Once: a second settlement returns the result of the first.
      if (this.#open.has(settlement.requestId) && settled.late !== "refused" && settled.cost > settled.charge)
        this.#uncollected += settled.cost - settled.charge;
      this.#forget(settlement.requestId);
      return settled;
    } catch (error) {
      // A delivered answer remains owed, whatever keeps the database from taking it, unless there is nothing to settle. Any other
      // hold is forgotten here, so the sweep releases it.
      if (settlement.delivered && !(error instanceof InvariantError)) this.#owe(settlement);
      else this.#forget(settlement.requestId);
      throw error;
    } finally {
      this.#settling.delete(settlement.requestId);
    }
  }

  /** Another process has recovered the request. Errors: ServiceBusy when the database is unavailable or the row stays locked. */
  async #settleLate(settlement: Settlement): Promise<SettledUsage> {
    try {
      const settled = await postLateUsage(this.#database, settlement);
      const { accountId, requestId } = settlement;
      // A released hold, of which nothing was delivered, is no late settlement.
      if ((this.#open.has(requestId) || this.#owed.has(requestId)) && settlement.cost > 0n) {
        this.#late += 1;
        this.#onLate({ accountId, requestId, ...settled });
      }
      return settled;
    } catch (error) {
      if (isDatabaseAway(error) || isOutOfMeans(error) || sqlState(error) === sqlStates.lockTimeout) {
        throw new ServiceBusy(undefined, { cause: error });
      }
      throw error;
    }
  }

  /** Retries the settlements that the database did not take in time. Returns how many it has taken now. */
  async settleOwed(): Promise<number> {
    const attempts = await Promise.allSettled([...this.#owed.values()].map((settlement) => this.settle(settlement)));
    return attempts.filter(({ status }) => status === "fulfilled").length;
  }

  /** Writes owed settlements again where the disk did not take them. */
  async storeOwed(): Promise<void> {
    await this.#spool?.retry();
  }

  #owe(settlement: Settlement): void {
    if (this.#owed.has(settlement.requestId)) return;
    this.#owed.set(settlement.requestId, settlement);
    this.#store(settlement);
  }

  /** A lane has lost its connection. What waits there for the database is stored: this process may be killed before it is back. */
  #storeWaiting(index: number): void {
    for (const settlement of this.#settling.values())
      if (this.#laneOf(settlement.accountId) === this.#lanes[index]) this.#store(settlement);
  }

  #store(settlement: Settlement): void {
    if (this.#spool === null || this.#stored.has(settlement.requestId)) return;
    this.#stored.add(settlement.requestId);
    this.#spool.add(settlement, this.#laneOf(settlement.accountId).history);
  }

  #forget(requestId: string): void {
    this.#open.delete(requestId);
    this.#owed.delete(requestId);
    if (this.#stored.delete(requestId) && this.#stored.size === 0) this.#spool?.clear();
  }

  /** Releases a hold whole: nothing of its request was delivered. */
  async release({ accountId, requestId }: { accountId: string; requestId: string }): Promise<void> {
    await this.settle({
      accountId,
      requestId,
      cost: 0n,
      inputTokensUncached: 0,
      inputTokensCached: 0,
      outputTokens: 0,
      basis: "free",
      billingDay: billingDay(timeOfUuidv7(requestId)),
      upstream: null,
      upstreamModel: null,
      upstreamRequestId: null,
      upstreamCost: null,
      streamed: false,
      durationMs: 0,
      firstByteMs: null,
      clamped: false,
      delivered: false,
    });
  }

  /** Whether this process knows a request whose hold it has placed and not settled. */
  isOpen(requestId: string): boolean {
    return this.#open.has(requestId);
  }

  /** The counters of the lanes, for the metrics. */
  statistics(): LedgerStatistics {
    const sum = { groups: 0, members: 0, replays: 0, lostConnections: 0, depth: 0 };
    for (const lane of this.#lanes) {
      sum.groups += lane.statistics.groups;
      sum.members += lane.statistics.members;
      sum.replays += lane.statistics.replays;
      sum.lostConnections += lane.statistics.lostConnections;
      sum.depth += lane.depth;
    }
    const { failedWrites: owedFailedWrites = 0, damagedFiles: owedDamagedFiles = 0 } = this.#spool?.statistics ?? {};
    const owed = { owed: this.#owed.size, owedFailedWrites, owedDamagedFiles };
    const counted = { uncollected: this.#uncollected, late: this.#late, misdated: this.#misdated };
    return { ...sum, ...owed, open: this.#open.size, ...counted };
  }

  #laneOf(accountId: string): Lane {
    // Ids are UUIDv7: their last digits are random.
    const lane = this.#lanes[Number.parseInt(accountId.slice(-8), 16) % this.#lanes.length];
    invariant(lane !== undefined, "every account has a lane");
    return lane;
  }
}
