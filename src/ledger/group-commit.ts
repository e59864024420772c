// The ledger's door for chat requests: admissions, extensions and settlements run in lanes by account, so that one account's requests
// are decided in one place and two lanes of a process never wait for each other's rows.

import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import { billingDay } from "../kernel/clock.ts";
import { failpoint } from "../kernel/failpoint.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { invariant, InvariantError } from "../kernel/invariant.ts";
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
} from "./ledger.ts";
import { settlementStatement } from "./settlement.ts";

export type GroupCommitOptions = {
  readonly database: Database;
  /** The process that owns the holds placed now. */
  readonly owner: () => string;
  /** How many connections commit. One or two on small machines. */
  readonly lanes: number;
};

/** How long a stop waits for what is being committed. */
const CLOSE_LIMIT_MS = 10_000;

export type LedgerStatistics = LaneStatistics & {
  /** Members waiting for a group. */
  readonly depth: number;
  /** Holds of this process. */
  readonly open: number;
  /** Settlements that the database has not taken yet. */
  readonly owed: number;
  /** Micro-rupiah of cost that no balance covered. */
  readonly uncollected: bigint;
};

export class GroupCommitLedger implements Ledger {
  readonly #owner: () => string;
  readonly #lanes: readonly Lane[];
  /** Requests whose holds this process has placed, or may have, and has not settled. */
  readonly #open = new Set<string>();
  /** Settlements of what was delivered, which the database did not take in time. They are tried again until it does. */
  readonly #owed = new Map<string, Settlement>();
  #uncollected = 0n;

  constructor({ database, owner, lanes }: GroupCommitOptions) {
    invariant(lanes >= 1, "there is at least one lane");
    this.#owner = owner;
    this.#lanes = Array.from({ length: lanes }, () => new Lane(database));
  }

  async open(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.open()));
  }

  /** Lets what waits be committed, for as long as the limit allows. */
  async close(limitMs = CLOSE_LIMIT_MS): Promise<void> {
    await Promise.race([this.settleOwed(), sleep(limitMs, undefined, { ref: false })]);
    await Promise.all(this.#lanes.map((lane) => lane.close(limitMs)));
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    invariant(0n <= request.leastAmount && request.leastAmount <= request.amount, "a hold has a useful least amount");
    const member = { ...request, owner: this.#owner() };
    this.#open.add(request.requestId);
    let placed = false;
    try {
      const decision = await this.#laneOf(request.accountId).submit(admissionStatement, member);
      placed = decision.outcome === "granted";
      if (placed) failpoint?.("after-hold-commit");
      return decision;
    } finally {
      if (!placed) this.#open.delete(request.requestId);
    }
  }

  async extend(request: ExtensionRequest): Promise<Extension> {
    invariant(request.leastAmount <= request.amount, "an extension has a useful least amount");
    return this.#laneOf(request.accountId).submit(extensionStatement, request);
  }

  async settle(settlement: Settlement): Promise<SettledUsage> {
    try {
      const settled = await this.#laneOf(settlement.accountId).submit(settlementStatement, settlement);
      // Once: whoever settles again hears what the first one came to.
      if (this.#open.has(settlement.requestId)) this.#uncollected += settled.cost - settled.charge;
      this.#forget(settlement.requestId);
      return settled;
    } catch (error) {
      // What was delivered stays owed, whatever keeps the database from taking it, unless there is nothing to settle. Any
      // other hold is no longer known, so the sweep gives it back.
      if (settlement.delivered && !(error instanceof InvariantError)) this.#owed.set(settlement.requestId, settlement);
      else this.#forget(settlement.requestId);
      throw error;
    }
  }

  /** Tries the settlements again that the database did not take in time. Gives how many it has taken now. */
  async settleOwed(): Promise<number> {
    const attempts = await Promise.allSettled([...this.#owed.values()].map((settlement) => this.settle(settlement)));
    return attempts.filter(({ status }) => status === "fulfilled").length;
  }

  #forget(requestId: string): void {
    this.#open.delete(requestId);
    this.#owed.delete(requestId);
  }

  /** Gives a hold back whole: nothing of its request was delivered. */
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

  /** What the lanes have done, for the metrics. */
  statistics(): LedgerStatistics {
    const sum = { groups: 0, members: 0, replays: 0, lostConnections: 0, depth: 0 };
    for (const lane of this.#lanes) {
      sum.groups += lane.statistics.groups;
      sum.members += lane.statistics.members;
      sum.replays += lane.statistics.replays;
      sum.lostConnections += lane.statistics.lostConnections;
      sum.depth += lane.depth;
    }
    return { ...sum, open: this.#open.size, owed: this.#owed.size, uncollected: this.#uncollected };
  }

  #laneOf(accountId: string): Lane {
    // Ids are UUIDv7: their last digits are random.
    const lane = this.#lanes[Number.parseInt(accountId.slice(-8), 16) % this.#lanes.length];
    invariant(lane !== undefined, "every account has a lane");
    return lane;
  }
}
