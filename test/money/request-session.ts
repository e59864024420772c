// A session of the login of the request path, and the calls that it can make: with any arguments, and lists that begin anywhere.

import { expect } from "vitest";
import type { Client } from "pg";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { requestUrlOf } from "../setup/test-database.ts";
import type { MoneySetup } from "./money-setup.ts";

/** Micro-rupiah of one input token, by the prices of these holds. */
export const UNIT = 5_000n;
export const OWNER = uuidv7();
const PRICES = { input: UNIT * 1_000_000n, output: 15_000_000_000n };

export const ADMIT = `SELECT outcome, amount FROM
  admit_request($1, $2, $3, $4, $5, $6, 'test/model', ${PRICES.input}, ${PRICES.output}, NULL, NULL, 0)`;
const SETTLE = `SELECT outcome, amount, other FROM
  settle_request($1, $2, $3, $4, 0, 0, 'exact', current_date, 'test', 'model', NULL, NULL, false, 1, NULL, false, NULL, NULL, $5, $6)`;
/** The lists of commit_requests, each with its type. */
export const LISTS = {
  s_account: "uuid", s_request: "uuid", s_cost: "bigint", s_input_uncached: "int", s_input_cached: "int", s_output: "int",
  s_basis: "text", s_day: "date", s_upstream: "text", s_upstream_model: "text", s_upstream_request: "text",
  s_upstream_cost: "bigint", s_streamed: "boolean", s_duration: "int", s_first_byte: "int", s_clamped: "boolean",
  s_other_tokens: "jsonb", s_metering: "jsonb", s_unbilled: "bigint", s_settled: "timestamptz",
  e_account: "uuid", e_request: "uuid", e_amount: "bigint", e_least: "bigint", e_input: "int", e_cached: "int", e_output: "int",
  a_account: "uuid", a_key: "uuid", a_request: "uuid", a_owner: "uuid", a_amount: "bigint", a_least: "bigint", a_model: "text",
  a_input_price: "bigint", a_output_price: "bigint", a_cache_hit_price: "bigint", a_other_prices: "jsonb", a_tokens: "int",
} as const; // prettier-ignore
export type Lists = Partial<Record<keyof typeof LISTS, string>>;
export const NAMES = Object.keys(LISTS) as (keyof typeof LISTS)[];
const COMMIT = `SELECT kind, ord, outcome, amount, other FROM commit_requests(${NAMES.map((name, index) => `$${index + 1}::${LISTS[name]}[]`).join(", ")})`;

/** Lists as PostgreSQL reads them; one that does not begin at 1 names its first place. */
export const list = (values: readonly (string | bigint | number | boolean | null)[], from = 1): string =>
  `${from === 1 || values.length === 0 ? "" : `[${from}:${from + values.length - 1}]=`}{${values.map((value) => value ?? "NULL").join(",")}}`;
/** Settlements of so many requests, by lists that may all begin elsewhere. */
export function settlements(
  members: readonly { account: string | null; request: string; cost: bigint | null }[],
  from = 1,
): Lists {
  const all = (value: string | number | boolean | null): string =>
    list(
      members.map(() => value),
      from,
    );
  return {
    s_account: list(members.map(({ account }) => account), from),
    s_request: list(members.map(({ request }) => request), from),
    s_cost: list(members.map(({ cost }) => cost), from),
    s_input_uncached: list(members.map(({ cost }) => ((cost ?? 0n) < 0n ? 0n : (cost ?? 0n) / UNIT)), from),
    s_input_cached: all(0), s_output: all(0), s_basis: all("exact"), s_day: all("2026-11-27"), s_upstream: all("test"),
    s_upstream_model: all("model"), s_upstream_request: all(null), s_upstream_cost: all(null), s_streamed: all(false),
    s_duration: all(1), s_first_byte: all(null), s_clamped: all(false), s_other_tokens: all(null), s_metering: all(null),
    s_unbilled: all(0), s_settled: all(null),
  }; // prettier-ignore
}

/** Extensions of holds to an amount. */
export function extensions(members: readonly { account: string; request: string; amount: bigint }[]): Lists {
  return {
    e_account: list(members.map(({ account }) => account)),
    e_request: list(members.map(({ request }) => request)),
    e_amount: list(members.map(({ amount }) => amount)),
    e_least: list(members.map(() => 0)),
    e_input: list(members.map(() => 1)),
    e_cached: list(members.map(() => 0)),
    e_output: list(members.map(() => 0)),
  };
}

/** Admissions of one key. */
export function admissions(
  { id, key }: Account,
  members: readonly { request: string; amount: bigint | null }[],
): Lists {
  const all = (value: string | bigint | null): string => list(members.map(() => value));
  const amounts = list(members.map(({ amount }) => amount));
  return {
    a_account: all(id), a_key: all(key), a_request: list(members.map(({ request }) => request)), a_owner: all(OWNER),
    a_amount: amounts, a_least: amounts, a_model: all("test/model"), a_input_price: all(PRICES.input),
    a_output_price: all(PRICES.output), a_cache_hit_price: all(null), a_other_prices: all(null), a_tokens: all(0n),
  }; // prettier-ignore
}

/** An account and a key of it. */
export type Account = { readonly id: string; readonly key: string };
/** What the books have of each account: of its row, and the sums that they must be. */
export type Books = Readonly<Record<string, { posted: string; held: string; holds: string; entries: string }>>;
const BOOKS = `
SELECT jsonb_object_agg(a.id, jsonb_build_object('posted', a.posted::text, 'held', a.held::text,
  'holds', (SELECT coalesce(sum(amount), 0)::text FROM hold h WHERE h.account_id = a.id),
  'entries', ((SELECT coalesce(sum(CASE a.id WHEN credit THEN amount WHEN debit THEN -amount END), 0) FROM posting WHERE a.id IN (debit, credit))
    - (SELECT coalesce(sum(charge), 0) FROM usage_record u WHERE u.account_id = a.id))::text)) AS books FROM account a`;

export class RequestSession {
  readonly #setup: MoneySetup;
  readonly #owner: Client;
  readonly client: Client;

  private constructor(setup: MoneySetup, client: Client, owner: Client) {
    this.#setup = setup;
    this.client = client;
    this.#owner = owner;
  }

  static async open(setup: MoneySetup): Promise<RequestSession> {
    const client = await connectClient(clientConfig({ connectionString: requestUrlOf(setup.opened.url) }, "test"));
    return new RequestSession(setup, client, await setup.connectAsOwner());
  }

  async close(): Promise<void> {
    await Promise.all([this.client.end(), this.#owner.end()]);
  }

  /** An account with so many units, and a key of it. */
  async account(units: bigint): Promise<Account> {
    const id = await this.#setup.account(units * UNIT);
    return { id, key: await this.#setup.key(id) };
  }

  /** Admits a request. Returns its id. */
  async hold({ id, key }: Account, amount = 10n * UNIT, request = uuidv7()): Promise<string> {
    const { rows } = await this.client.query(ADMIT, [id, key, request, OWNER, amount, amount]);
    expect(rows).toMatchObject([{ outcome: "granted", amount }]);
    return request;
  }

  /** Settles a request by itself. */
  async settle(
    { id }: Pick<Account, "id">,
    request: string,
    cost: bigint | null,
    { unbilled = 0n, at = null }: { unbilled?: bigint; at?: string | null } = {},
  ): Promise<unknown> {
    const tokens = cost === null || cost < 0n ? 0n : cost / UNIT;
    return (await this.client.query(SETTLE, [id, request, cost, tokens, unbilled, at])).rows[0];
  }

  /** Calls commit_requests; lists that are not named are empty. */
  commit(lists: Lists): Promise<{ rowCount: number | null }> {
    const values = NAMES.map((name) => lists[name] ?? "{}");
    return this.client.query(COMMIT, values);
  }

  async books(): Promise<Books> {
    return (await this.#owner.query<{ books: Books }>(BOOKS)).rows[0]?.books ?? {};
  }

  /** Each balance is the sum of its entries and what is held is the sum of holds; no balance is above what it was. */
  async expectNoneMinted(before: Books): Promise<void> {
    for (const [id, { posted, held, holds, entries }] of Object.entries(await this.books())) {
      expect([posted, held]).toEqual([entries, holds]);
      expect(BigInt(posted)).toBeLessThanOrEqual(BigInt(before[id]?.posted ?? posted));
    }
  }
}
