// The real ledger behind the actions of the model: PostgreSQL, group commit, leases, recovery, through their own interfaces.

import { costOf } from "../../../src/billing/cost.ts";
import { applyPayment } from "../../../src/billing/top-ups/apply-payment.ts";
import { collectFreed } from "../../../src/ledger/receivables.ts";
import { insertTopUp } from "../../../src/billing/top-ups/store.ts";
import { withRetry, withTransaction } from "../../../src/database/transactions.ts";
import { DomainError } from "../../../src/kernel/errors.ts";
import { InvariantError } from "../../../src/kernel/invariant.ts";
import { GroupCommitLedger } from "../../../src/ledger/group-commit/group-commit.ts";
import type { AdmissionRequest, Ledger, PriceSnapshot, SettledUsage } from "../../../src/ledger/ledger.ts";
import { recoverHolds } from "../../../src/ledger/recovery.ts";
import { systemAccounts } from "../../../src/ledger/system-accounts.ts";
import { sweepOwnHolds } from "../../../src/ledger/jobs/holds.ts";
import { type MoneySetup, settlement, type TestProcess } from "../money-setup.ts";
import type { Action, Answer, Books } from "./actions.ts";
import { creditByOperator, creditUsageByOperator } from "../../setup/operator-credit.ts";

const BURY = "UPDATE process SET dead_at = clock_timestamp() WHERE id = $1";
const LEAVE_FOR_A_MINUTE = "UPDATE hold SET placed_at = placed_at - interval '61 s' WHERE owner = $1";
const REVOKE = "UPDATE api_key SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = $1";
const FREEZE = "UPDATE account SET frozen_at = CASE WHEN $2 THEN clock_timestamp() END WHERE id = $1";
const CROWD = "UPDATE account SET max_open_holds = $2 WHERE id = $1";
const LIMIT = "UPDATE api_key SET rate_limit = $2 WHERE id = $1";
const WAIT = `
UPDATE api_key SET slots = ARRAY(SELECT s - $2 * interval '1 s' FROM unnest(slots) WITH ORDINALITY AS u(s, o) ORDER BY o) WHERE id = $1`;

// One statement, so one snapshot. Whole numbers travel as text: JSON's are too small for them.
const BOOKS = `
SELECT a.id, a.posted::text, a.owed::text, a.held::text,
  CASE WHEN a.frozen_at IS NULL THEN 'open' ELSE 'frozen' END || ', ' || a.open_holds || ' of ' || a.max_open_holds AS state,
  ((SELECT coalesce(sum(CASE a.id WHEN credit THEN amount WHEN debit THEN -amount END), 0) FROM posting WHERE account_id = a.id)
   - (SELECT coalesce(sum(charge), 0) FROM usage_record WHERE account_id = a.id))::text AS postings,
  (SELECT coalesce(sum(p.amount), 0) FROM usage_record u JOIN posting p
     ON p.account_id = a.id AND p.debit = '${systemAccounts.operatorLoss}' AND p.group_id = u.request_id
   WHERE u.account_id = a.id)::text AS losses,
  (SELECT coalesce(json_object_agg(h.id, h.amount || ' at ' || h.progress_input_tokens || '+' || h.progress_output_tokens), '{}')
   FROM hold h WHERE h.account_id = a.id) AS holds,
  (SELECT coalesce(json_object_agg(u.request_id, u.charge || ' of ' || u.cost || ', ' || u.basis), '{}')
   FROM usage_record u WHERE u.account_id = a.id) AS usage,
  (SELECT coalesce(json_object_agg(k.id, CASE WHEN k.revoked_at IS NULL THEN 'working' ELSE 'revoked' END || ', '
     || slots_used(k.slots, k.slot_counts, k.rate_limit, clock_timestamp()) || ' of ' || k.rate_limit), '{}')
   FROM api_key k WHERE k.account_id = a.id) AS keys
FROM account a WHERE a.id = ANY ($1::uuid[])`;

/** The fields of a settlement besides its tokens. */
export type RequestFacts = Pick<AdmissionRequest, "accountId" | "requestId"> & { readonly prices: PriceSnapshot };

export class RealLedger {
  readonly #setup: MoneySetup;
  readonly #processes: readonly TestProcess[];
  /** For each process a ledger of the same lease whose memory the process does not share. */
  readonly #forgetful: readonly GroupCommitLedger[];
  readonly #requests = new Map<string, RequestFacts>();

  private constructor(setup: MoneySetup, processes: readonly TestProcess[], forgetful: readonly GroupCommitLedger[]) {
    this.#setup = setup;
    this.#processes = processes;
    this.#forgetful = forgetful;
  }

  /** Opens serving processes on the database of a setup. */
  static async open(setup: MoneySetup, processes: number, lanes = 1): Promise<RealLedger> {
    const opened: TestProcess[] = [];
    for (let process = 0; process < processes; process += 1) opened.push(await setup.process(lanes));
    const forgetful = opened.map(
      ({ database, lease }) => new GroupCommitLedger({ database, owner: () => lease.processId, lanes: 1 }),
    );
    return new RealLedger(setup, opened, forgetful);
  }

  async close(): Promise<void> {
    await Promise.all(this.#forgetful.map((ledger) => ledger.close()));
  }

  /** An account with keys of these limits, and nothing on it. */
  async account(...limits: readonly number[]): Promise<{ accountId: string; keys: Record<string, number> }> {
    const accountId = await this.#setup.account(0n);
    const keys: Record<string, number> = {};
    for (const limit of limits) keys[await this.#setup.key(accountId, limit)] = limit;
    return { accountId, keys };
  }

  async perform(action: Action): Promise<Answer> {
    const { pool } = this.#setup;
    switch (action.do) {
      case "credit":
        return this.#credit(action);
      case "admit":
        return this.#admit(action);
      case "settle": {
        const { requestId, tokens, basis } = action;
        const facts = this.#factsOf(requestId);
        const counts = {
          inputTokensUncached: tokens.uncached,
          inputTokensCached: tokens.cached,
          outputTokens: tokens.output,
        };
        const known = settlement(facts.accountId, requestId, 0);
        const request = { ...known, ...counts, cost: costOf(counts, facts.prices), basis };
        return settled(this.#ledgerOf(action.process).settle(request));
      }
      case "release": {
        const { accountId } = this.#factsOf(action.requestId);
        // A release has no answer; a second settlement reads its result, and changes nothing.
        await this.#ledgerOf(action.process).release({ accountId, requestId: action.requestId });
        return settled(this.#ledgerOf(action.process).settle(settlement(accountId, action.requestId, 0)));
      }
      case "extend": {
        const { requestId, amount, least: leastAmount, input: inputTokens, output: outputTokens } = action;
        const { accountId } = this.#factsOf(requestId);
        const wanted = { accountId, requestId, amount, leastAmount, inputTokens, outputTokens };
        return this.#ledgerOf(action.process).extend(wanted);
      }
      case "give back":
        return this.#giveBack(action);
      case "buy":
        return this.#buy(action);
      case "charge back": {
        const { topUpId, amount } = action;
        const report = { state: "charged_back", amount: null, givenBack: amount, reference: null } as const;
        await applyPayment(this.#setup.opened.database, topUpId, report);
        return {};
      }
      case "collect":
        await collectFreed(pool);
        return {};
      case "die": {
        const { lease } = this.#processOf(action.process);
        await pool.query(BURY, [lease.processId]);
        await lease.renew();
        return {};
      }
      case "recover":
        await recoverHolds(pool);
        return {};
      case "sweep": {
        const process = this.#processOf(action.process);
        await pool.query(LEAVE_FOR_A_MINUTE, [process.lease.processId]);
        await sweepOwnHolds({ ...process, pool });
        return {};
      }
      case "revoke":
        await pool.query(REVOKE, [action.keyId]);
        return {};
      case "freeze":
        await pool.query(FREEZE, [action.accountId, action.frozen]);
        return {};
      case "crowd":
        await pool.query(CROWD, [action.accountId, action.most]);
        return {};
      case "limit":
        await pool.query(LIMIT, [action.keyId, action.rateLimit]);
        return {};
      case "wait":
        await pool.query(WAIT, [action.keyId, action.seconds]);
        return {};
      default:
        throw new Error(`there is no such action: ${JSON.stringify(action satisfies never)}`);
    }
  }

  /** The database's books of these accounts. */
  async books(accounts: readonly string[]): Promise<Record<string, Books>> {
    const { rows } = await this.#setup.pool.query<Books & { id: string }>({
      name: "model_books",
      text: BOOKS,
      values: [accounts],
    });
    return Object.fromEntries(rows.map(({ id, ...books }) => [id, books]));
  }

  async #credit({ accountId, amount, reference }: Extract<Action, { do: "credit" }>): Promise<Answer> {
    const credit = { accountId, amount, reference };
    const { database } = this.#setup.opened;
    // As every caller of the ledger: a deadlock has written nothing.
    const { available } = await withRetry(() =>
      withTransaction(database, (client) => creditByOperator(client, credit)),
    );
    return { available };
  }

  async #buy({ accountId, amount, topUpId }: Extract<Action, { do: "buy" }>): Promise<Answer> {
    const { pool, opened } = this.#setup;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const order = { topUpId, accountId, amount, provider: "midtrans", idempotencyKey: topUpId } as const;
    await insertTopUp(pool, { ...order, expiresAt, nextCheckAt: expiresAt });
    await applyPayment(opened.database, topUpId, { state: "paid", amount, givenBack: 0n, reference: null });
    return {};
  }

  async #giveBack({ requestId, amount, name }: Extract<Action, { do: "give back" }>): Promise<Answer> {
    const note = { requestId, amount, name, note: "the model gives it back" };
    try {
      const { database } = this.#setup.opened;
      const written = await withRetry(() => withTransaction(database, (client) => creditUsageByOperator(client, note)));
      const { credited, left, isNew } = written;
      return { amount: written.amount, credited, left, isNew };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { error: error.code };
    }
  }

  async #admit({ process, request, forgotten }: Extract<Action, { do: "admit" }>): Promise<Answer> {
    this.#requests.set(request.requestId, request);
    const ledger: Ledger | undefined = forgotten ? this.#forgetful[process] : this.#ledgerOf(process);
    if (ledger === undefined) throw new Error(`there is no process ${process}`);
    const admission = await ledger.admit(request);
    // The model names no request, so no admission meets an earlier one of its name.
    if (!("rate" in admission)) return { outcome: admission.outcome };
    const { outcome, rate } = admission;
    const { limit, remaining } = rate;
    if (outcome === "limited" || outcome === "crowded") return { outcome, limit, remaining };
    if (outcome === "refused") return { outcome, available: admission.available, limit, remaining };
    if (outcome === "over_budget") throw new Error("no key of the model has a budget");
    return { outcome, amount: admission.amount, limit, remaining };
  }

  #ledgerOf(process: number): GroupCommitLedger {
    return this.#processOf(process).ledger;
  }

  #processOf(process: number): TestProcess {
    const found = this.#processes[process];
    if (found === undefined) throw new Error(`there is no process ${process}`);
    return found;
  }

  #factsOf(requestId: string): RequestFacts {
    const facts = this.#requests.get(requestId);
    if (facts === undefined) throw new Error(`the test asks for a request that was never sent: ${requestId}`);
    return facts;
  }
}

/** The answer to a settlement: its record, or that there was nothing to settle. */
async function settled(settling: Promise<SettledUsage>): Promise<Answer> {
  try {
    const { cost, charge } = await settling;
    return { cost, charge };
  } catch (error) {
    if (!(error instanceof InvariantError)) throw error;
    return { error: error.message.replace(/:.*/, "") };
  }
}
