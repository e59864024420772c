// The shadow auditor. It knows the credits, the clients' requests and answers, and the calls to the upstream. From the
// ledger it takes only the bills, and compares. Nothing here is computed by the code under test.

import type { Pool } from "pg";
import {
  type Ask,
  BEHAVIOURS,
  exactCost,
  highestCost,
  isBeyondFirstSlab,
  lowestCost,
  lowestRecovered,
} from "./asks.ts";

/** The outcome of a request, as its client saw it. */
export type Seen = {
  readonly requestId: string | null;
  /** Null: it has had no head of an answer. */
  readonly status: number | null;
  /** Pieces of a stream that it has had. */
  readonly pieces: number;
  /** Micro-rupiah shown to it for a whole answer; null: it has had no whole answer. */
  readonly toldCost: bigint | null;
  /** Whether the gateway ended the answer where the balance, or the bound, allowed no more. */
  readonly isCapped: boolean;
};

type Entry = {
  readonly ask: Ask;
  readonly account: Account;
  calls: number;
  endedAtMs: number | null;
  seen: Seen | null;
  billedAs: string | null;
};

/** A customer of the soak. `isRich`: its balance never ends, so that no bound is cut to it. */
export type Account = {
  readonly accountId: string;
  readonly key: string;
  readonly credited: bigint;
  readonly isRich: boolean;
};

type Billed = {
  readonly request_id: string;
  readonly account_id: string;
  readonly upstream_request_id: string | null;
  /** All that the request has taken from the balance. */
  readonly charge: bigint;
  readonly basis: string;
  /** Whether it was settled after its recovery. */
  readonly is_late: boolean;
};

/** Until then a request may still be settled or recovered; what is older has to be decided. */
const DECIDED_AFTER_MS = 150_000;
/** A paused gateway may serve a request long after its client has left. */
const FORGOTTEN_AFTER_MS = 600_000;
const MAX_VIOLATIONS = 100;

const BILLED = `
SELECT u.request_id, u.account_id, coalesce(l.upstream_request_id, u.upstream_request_id) AS upstream_request_id, u.basis,
       u.charge + coalesce(l.charge, 0) AS charge, l.request_id IS NOT NULL AS is_late
FROM usage_record u LEFT JOIN late_usage l ON l.account_id = u.account_id AND l.request_id = u.request_id
WHERE u.account_id = ANY ($1::uuid[]) AND u.request_id >= $2::uuid AND u.request_id < $3::uuid`;
const BALANCES = `SELECT id, posted, held FROM account WHERE id = ANY ($1::uuid[])`;
const TOTALS = `
SELECT a.id, a.posted, a.held, u.records, u.charged
FROM account a CROSS JOIN LATERAL (
  SELECT count(*)::int AS records,
         (coalesce(sum(charge), 0) + (SELECT coalesce(sum(charge), 0) FROM late_usage WHERE account_id = a.id))::bigint AS charged
  FROM usage_record WHERE account_id = a.id
) u WHERE a.id = ANY ($1::uuid[])`;

export class Shadow {
  readonly violations: string[] = [];
  readonly #accounts = new Map<string, Account>();
  /** By the id that the client gave its request, and that the upstream returned as its own. */
  readonly #entries = new Map<string, Entry>();
  readonly #bought = new Map<string, bigint>();
  readonly #byRequestId = new Map<string, Entry>();
  readonly #totals = new Map<string, { records: number; charged: bigint }>();
  /**
   * Charges whose request is unknown, by account, and the requests that may be meant: both sides lost the head of the
   * answer.
   */
  readonly #nameless = new Map<string, number>();
  readonly #candidates = new Map<string, number>();
  #reconciledUntilMs: number;
  checked = 0;
  /** Charges for more than the first slab of a stream, and charges of recovery: the proof that both were met. */
  beyondFirstSlab = 0;
  recoveredWithProgress = 0;
  /** Requests that were charged after their recovery. */
  chargedLate = 0;

  constructor(nowMs = Date.now()) {
    this.#reconciledUntilMs = nowMs;
  }

  add(account: Account): void {
    this.#accounts.set(account.accountId, account);
    this.#totals.set(account.accountId, { records: 0, charged: 0n });
  }

  /** An account has bought so much more. */
  credited(accountId: string, amount: bigint): void {
    this.#bought.set(accountId, (this.#bought.get(accountId) ?? 0n) + amount);
  }

  sent(ask: Ask, account: Account): void {
    this.#entries.set(ask.id, { ask, account, calls: 0, endedAtMs: null, seen: null, billedAs: null });
  }

  /** Records a call to the upstream. Returns the number of calls so far. */
  called(id: string): number {
    const entry = this.#entries.get(id);
    if (entry === undefined) return this.violate(`the upstream was asked for ${id}, which no client sent`, 1);
    entry.calls += 1;
    const { behaviour } = entry.ask;
    if (entry.calls > BEHAVIOURS[behaviour].calls) {
      this.violate(`the upstream, which "${behaviour}", was asked ${entry.calls} times for ${id}`);
    }
    return entry.calls;
  }

  ended(ask: Ask, seen: Seen): void {
    const entry = this.#entries.get(ask.id);
    if (entry === undefined) return;
    entry.endedAtMs = Date.now();
    entry.seen = seen;
    if (seen.requestId !== null) this.#byRequestId.set(seen.requestId, entry);
    if (seen.toldCost === null) return;
    if (entry.calls === 0) this.violate(`${ask.id} was answered, and the upstream never asked`);
    const isEndedForMoney = seen.isCapped && !entry.account.isRich;
    if (!BEHAVIOURS[ask.behaviour].completes && !isEndedForMoney) {
      this.violate(`${ask.id}, whose upstream "${ask.behaviour}", was answered as if it were whole`);
    }
  }

  violate<Result = void>(what: string, result?: Result): Result {
    if (this.violations.length < MAX_VIOLATIONS) this.violations.push(`${new Date().toISOString()} ${what}`);
    return result as Result;
  }

  /** Compares the bills of requests that are decided by now; `all`: of every request, because nothing runs any more. */
  async reconcile(pool: Pool, { all = false } = {}): Promise<void> {
    const from = this.#reconciledUntilMs;
    const until = all ? Date.now() + 1 : Date.now() - DECIDED_AFTER_MS;
    const ids = [...this.#accounts.keys()];
    for (const { id, posted, held } of (await pool.query<Balance>(BALANCES, [ids])).rows) {
      if (held < 0n || posted < held) this.violate(`account ${id} has posted ${posted} and held ${held}`);
    }
    if (until <= from) return;
    const { rows } = await pool.query<Billed>(BILLED, [ids, floorOf(from), floorOf(until)]);
    for (const record of rows) this.#explain(record);
    for (const [requestId, entry] of this.#byRequestId) {
      if (timeOf(requestId) >= until) continue;
      const { toldCost = null, pieces = 0 } = entry.seen ?? {};
      if ((toldCost === null && pieces === 0) || entry.billedAs !== null) continue;
      const what = toldCost === null ? `was answered with ${pieces} pieces` : `was answered for ${toldCost}`;
      this.violate(`${requestId} ${what} and is not billed`);
      this.#byRequestId.delete(requestId);
    }
    this.#forget(all ? Infinity : until);
    this.#reconciledUntilMs = until;
  }

  /** At the very end: every account has its credits less its bills, and there are no unknown bills. */
  async close(pool: Pool): Promise<void> {
    await this.reconcile(pool, { all: true });
    const { rows } = await pool.query<Balance & Total>(TOTALS, [[...this.#accounts.keys()]]);
    for (const { id, posted, held, records, charged } of rows) {
      const credited = (this.#accounts.get(id)?.credited ?? 0n) + (this.#bought.get(id) ?? 0n);
      const total = this.#totals.get(id);
      if (posted !== credited - charged) this.violate(`account ${id} has ${posted}, not ${credited} - ${charged}`);
      if (held !== 0n) this.violate(`account ${id} has ${held} held while nothing runs`);
      if (total?.records !== records || total.charged !== charged) {
        this.violate(
          `account ${id}: ${records} records of ${charged}, looked at ${total?.records} of ${total?.charged}`,
        );
      }
    }
    for (const [id, count] of this.#nameless) {
      const candidates = this.#candidates.get(id) ?? 0;
      if (count > candidates)
        this.violate(`account ${id}: ${count} charges for ${candidates} requests that were lost or left`);
    }
  }

  #explain({ is_late: isLate, basis: recorded, ...record }: Billed): void {
    const { request_id: requestId, account_id: accountId, upstream_request_id: id, charge } = record;
    const basis = isLate ? LATE : recorded;
    this.checked += 1;
    if (isLate && recorded !== "recovered")
      this.violate(`${requestId} (${recorded}) was settled late, and not recovered`);
    if (isLate && charge > 0n) this.chargedLate += 1;
    const total = this.#totals.get(accountId);
    if (total !== undefined) {
      total.records += 1;
      total.charged += charge;
    }
    if (basis === "free" && charge !== 0n) this.violate(`${requestId} is free and charged ${charge}`);
    const entry = this.#byRequestId.get(requestId) ?? (id === null ? undefined : this.#entries.get(id));
    if (entry === undefined) {
      if (charge === 0n) return;
      if (id === null && basis !== "exact") increment(this.#nameless, accountId);
      else this.violate(`${requestId} is charged ${charge} (${basis}), and no client sent it`);
      return;
    }
    const { ask, account, seen } = entry;
    const name = `${requestId} (${ask.id}, ${ask.behaviour}, ${ask.stream ? "streamed" : "whole"}, ${basis})`;
    if (account.accountId !== accountId) this.violate(`${name} is billed to ${accountId}, not ${account.accountId}`);
    if (entry.billedAs !== null) this.violate(`${name} is billed again, before as ${entry.billedAs}`);
    entry.billedAs = requestId;
    if (charge > highestCost(ask)) this.violate(`${name} is charged ${charge}, more than is possible`);
    if (charge > 0n && entry.calls === 0)
      this.violate(`${name} is charged ${charge}, and the upstream was never asked`);
    if (isBeyondFirstSlab(charge)) this.beyondFirstSlab += 1;
    if (basis === "recovered" && charge > 0n) this.recoveredWithProgress += 1;
    const lowest = lowestOf(entry, basis);
    if (charge < lowest) this.violate(`${name} is charged ${charge}, less than ${lowest} for what was delivered`);
    if (isExact(entry, basis) && charge !== exactCost(ask)) {
      this.violate(`${name} is charged ${charge} instead of exactly ${exactCost(ask)}`);
    }
    if (seen === null) return;
    const { status, pieces, toldCost } = seen;
    if (basis === "free" && pieces > 0) this.violate(`${name} is free, and its client has had ${pieces} pieces`);
    if (status !== null && status !== 200 && charge !== 0n)
      this.violate(`${name} was answered with ${status} and is charged ${charge}`);
    if (toldCost !== null && charge !== toldCost)
      this.violate(`${name} is charged ${charge}, and its client was shown ${toldCost}`);
  }

  /** Lets go of what is explained, and in time of what never was billed; a soak of hours must not fill our own memory. */
  #forget(untilMs: number): void {
    for (const [id, entry] of this.#entries) {
      if (entry.endedAtMs === null) continue;
      const { seen, billedAs, account, calls } = entry;
      const isExplained = billedAs !== null && timeOf(billedAs) < untilMs;
      const isOld = entry.endedAtMs < untilMs - FORGOTTEN_AFTER_MS;
      if (!isExplained && !isOld) continue;
      if (billedAs === null && calls > 0) increment(this.#candidates, account.accountId);
      this.#entries.delete(id);
      if (seen !== null && seen.requestId !== null) this.#byRequestId.delete(seen.requestId);
    }
  }
}

/** The basis of a settlement after a recovery: the part relayed before the pause, or a whole answer that was shown. */
const LATE = "late";

/** Whether a bill must equal the upstream's own figure: its report was whole and honest, and the balance covered it. */
function isExact({ ask, account, seen }: Entry, basis: string): boolean {
  if (!BEHAVIOURS[ask.behaviour].exact || !account.isRich) return false;
  return basis === "exact" || basis === "drained" || (seen !== null && seen.toldCost !== null);
}

/** The least that is charged. A poor account is charged its balance, and that is not zero. */
function lowestOf({ ask, account, seen }: Entry, basis: string): bigint {
  const pieces = seen?.pieces ?? 0;
  if (basis === "free") return 0n;
  // A whole answer that was not shown, or what the upstream had not begun before the pause, may come to nothing.
  if (basis === LATE && pieces === 0 && (seen === null || seen.toldCost === null)) return 0n;
  // A late charge is taken as far as there is money left.
  if (basis === LATE && !account.isRich) return 0n;
  if (basis === "recovered") return account.isRich ? lowestRecovered(ask, pieces) : 0n;
  if (!account.isRich) return 1n;
  return BEHAVIOURS[ask.behaviour].exact && basis !== "estimated" && basis !== LATE
    ? exactCost(ask)
    : lowestCost(ask, pieces);
}

type Balance = { readonly id: string; readonly posted: bigint; readonly held: bigint };
type Total = { readonly records: number; readonly charged: bigint };

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The smallest request id of a moment: its first 48 bits are the milliseconds. */
function floorOf(ms: number): string {
  const hex = Math.floor(ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function timeOf(requestId: string): number {
  return Number.parseInt(requestId.slice(0, 8) + requestId.slice(9, 13), 16);
}
