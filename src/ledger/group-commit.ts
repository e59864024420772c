// The ledger's door for chat requests: admissions and settlements run in lanes by account, so that one account's requests
// are decided in one place and two lanes of a process never wait for each other's rows.

import type { Database } from "../database/database.ts";
import { billingDay } from "../kernel/clock.ts";
import { UpstreamBusy } from "../kernel/errors.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import { admissionStatement, type AdmissionMember, HELD_AMOUNT } from "./admission.ts";
import { Lane, type LaneStatistics } from "./lane.ts";
import type { Admission, AdmissionRequest, Ledger, SettledUsage, Settlement } from "./ledger.ts";
import { SETTLED_USAGE, settlementStatement } from "./settlement.ts";

export type GroupCommitOptions = {
  readonly database: Database;
  /** The process that owns the holds placed now. */
  readonly owner: () => string;
  /** How many connections commit. One or two on small machines. */
  readonly lanes: number;
};

export class GroupCommitLedger implements Ledger {
  readonly #database: Database;
  readonly #owner: () => string;
  readonly #lanes: readonly Lane[];
  /** Requests whose holds this process has placed, or may have, and has not settled. */
  readonly #open = new Set<string>();

  constructor({ database, owner, lanes }: GroupCommitOptions) {
    invariant(lanes >= 1, "there is at least one lane");
    this.#database = database;
    this.#owner = owner;
    this.#lanes = Array.from({ length: lanes }, () => new Lane(database));
  }

  async open(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.open()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    invariant(0n <= request.leastAmount && request.leastAmount <= request.amount, "a hold has a useful least amount");
    const lane = this.#laneOf(request.accountId);
    const member = { ...request, owner: this.#owner(), slotTaken: false };
    this.#open.add(request.requestId);
    let placed = false;
    try {
      let decision = await lane.submit(admissionStatement, member);
      // A group never refuses for money: it cannot tell who of several would fit. The slot is taken, the balance is not.
      if (decision.outcome === "alone") {
        const lone: AdmissionMember = { ...member, slotTaken: true };
        decision = await lane.submit(admissionStatement, lone, { alone: true });
      }
      invariant(decision.outcome !== "alone", "a lone admission decides");
      if (decision.outcome === "written") {
        placed = true;
        return { outcome: "granted", amount: await this.#heldAmount(request), rate: decision.rate };
      }
      placed = decision.outcome === "granted";
      return decision;
    } finally {
      if (!placed) this.#open.delete(request.requestId);
    }
  }

  async settle(settlement: Settlement): Promise<SettledUsage> {
    try {
      const settled = await this.#laneOf(settlement.accountId).submit(settlementStatement, settlement);
      return settled ?? (await this.#settledBefore(settlement));
    } finally {
      // Also when it failed: a hold this process no longer knows is given back by its sweep.
      this.#open.delete(settlement.requestId);
    }
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
    });
  }

  /** Whether this process knows a request whose hold it has placed and not settled. */
  isOpen(requestId: string): boolean {
    return this.#open.has(requestId);
  }

  /** What the lanes have done, for the metrics. */
  statistics(): LaneStatistics & { depth: number } {
    const sum = { groups: 0, members: 0, replays: 0, lostConnections: 0, depth: 0 };
    for (const lane of this.#lanes) {
      sum.groups += lane.statistics.groups;
      sum.members += lane.statistics.members;
      sum.replays += lane.statistics.replays;
      sum.lostConnections += lane.statistics.lostConnections;
      sum.depth += lane.depth;
    }
    return sum;
  }

  /** A replay found its own hold. Its amount is read in a new statement, which sees what the first one committed. */
  async #heldAmount({ accountId, requestId }: AdmissionRequest): Promise<bigint> {
    const { rows } = await this.#database.pool.query<{ amount: bigint }>(HELD_AMOUNT, [accountId, requestId]);
    if (rows[0] === undefined) throw new UpstreamBusy(); // the hold was swept meanwhile: nothing is held any more
    return rows[0].amount;
  }

  async #settledBefore({ accountId, requestId }: Settlement): Promise<SettledUsage> {
    const { rows } = await this.#database.pool.query<SettledUsage>(SETTLED_USAGE, [accountId, requestId]);
    invariant(rows[0] !== undefined, "a request without a hold has been settled");
    return rows[0];
  }

  #laneOf(accountId: string): Lane {
    // Ids are UUIDv7: their last digits are random.
    const lane = this.#lanes[Number.parseInt(accountId.slice(-8), 16) % this.#lanes.length];
    invariant(lane !== undefined, "every account has a lane");
    return lane;
  }
}
