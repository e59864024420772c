// Books with months of usage that are long over: requests of every kind, a loss, a late charge, a note, and requests that were settled in
// another month than they came in; rolled up and sealed, as the workers leave them.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ArchivedMonth,
  archiveMonths,
  type ArchiveWork,
  withArchive,
} from "../../src/billing/archive/archive-months.ts";
import { sealDays } from "../../src/billing/proof/seal.ts";
import { type ProofKey, proofKey } from "../../src/billing/proof/signing.ts";
import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { postLateUsage } from "../../src/ledger/late-usage.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { creditUsageByOperator } from "../setup/operator-credit.ts";
import { MoneySetup, settlement } from "../money/money-setup.ts";

export const KEY: ProofKey = proofKey("a secret of a test that signs the months of its archive");
export const KEEP_MONTHS = 13;
const RUPIAH = 1_000_000n;
const MONTHS = 4;

/** The months with usage, oldest first: the newest is over for longer than what is kept. */
export function archivedMonths(months = MONTHS): string[] {
  const now = new Date();
  return Array.from({ length: months }, (_, back) => {
    const month = now.getUTCMonth() - KEEP_MONTHS - months + back;
    return new Date(Date.UTC(now.getUTCFullYear(), month, 1)).toISOString().slice(0, 7);
  });
}

/** The first month that stays. */
export function firstKept(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - KEEP_MONTHS, 1)).toISOString().slice(0, 7);
}

/** A request's id: of the given moment, distinguished by a text. Both are SQL. */
const idAt = (moment: string, text: string): string =>
  `(substr(uuid_floor(${moment})::text, 1, 14) || '7' || substr(md5(${text}), 1, 3) || '-8' || substr(md5(${text}), 4, 3) || '-' || substr(md5(${text} || 'x'), 1, 12))::uuid`;

/** How a made-up request is settled: a moment of SQL, and what is left of its charge. */
type Made = {
  readonly at: string;
  readonly settled: string;
  readonly text: string;
  readonly loss?: number;
  readonly basis?: string;
};

export class ArchiveSetup {
  readonly money: MoneySetup;
  readonly accounts: readonly string[];
  readonly keyIds: readonly string[];
  readonly folder: string;
  /** Requests that stay at hand: of a loss, of recovery with a late charge, of recovery without one yet, with a note. */
  readonly named: Readonly<Record<"lost" | "recovered" | "owed" | "noted", string>>;

  private constructor(parts: Pick<ArchiveSetup, "money" | "accounts" | "keyIds" | "folder" | "named">) {
    this.money = parts.money;
    this.accounts = parts.accounts;
    this.keyIds = parts.keyIds;
    this.folder = parts.folder;
    this.named = parts.named;
  }

  static async create(size: Parameters<typeof ArchiveSetup.on>[1] = {}): Promise<ArchiveSetup> {
    return ArchiveSetup.on(await MoneySetup.create("embedded"), size);
  }

  /** On money that is set up already. `perMonth`: requests of each account and month. `months`: how many of them. */
  static async on(
    money: MoneySetup,
    {
      perMonth = 60,
      accounts: count = 3,
      months = MONTHS,
    }: { perMonth?: number; accounts?: number; months?: number } = {},
  ): Promise<ArchiveSetup> {
    const accounts: string[] = [];
    const keyIds: string[] = [];
    for (let n = 0; n < count; n += 1) {
      accounts.push(await money.account(1_000_000_000n * RUPIAH));
      keyIds.push(await money.key(accounts[n] ?? ""));
    }
    const names = archivedMonths(months);
    const [first = "", second = ""] = names;
    await money.asOwner(`SELECT * FROM ensure_usage_partitions('${first}-01', 36)`);
    for (const [place, account] of accounts.entries())
      for (const month of names) await fill(money, { account, key: keyIds[place] ?? "", month, perMonth });
    const named = await nameRequests(money, { account: accounts[0] ?? "", key: keyIds[0] ?? "", first, second });
    await rollUpUsage(money.pool);
    await sealDays(money.pool, { keys: [KEY], share: 1 });
    const folder = await mkdtemp(join(tmpdir(), "saldo-archive-"));
    return new ArchiveSetup({ money, accounts, keyIds, folder, named });
  }

  /** Runs work on the archive, by connections of the owner. */
  work<Outcome>(
    run: (work: ArchiveWork) => Promise<Outcome>,
    onStep: (step: string) => Promise<void> | void = () => {},
  ): Promise<Outcome> {
    const config = clientConfig({ connectionString: this.money.opened.url }, "saldo test");
    return withArchive((work) => withClient(config, work), { onStep }, run);
  }

  archive(
    options: { before?: string; onStep?: (step: string) => Promise<void> | void } = {},
  ): Promise<ArchivedMonth[]> {
    const { before = firstKept(), onStep } = options;
    const archive = { before, folder: this.folder, keepMonths: KEEP_MONTHS, keys: [KEY] };
    return this.work((work) => archiveMonths(work, archive), onStep);
  }

  /** A full audit with the key and the files. */
  audit(folder: string | null = this.folder) {
    const topics = topicAudits([], { proofKeys: [KEY], chains: [], archiveFolder: folder });
    return this.money.audit({ topics });
  }

  async close(): Promise<void> {
    await this.money.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function fill(
  money: MoneySetup,
  { account, key, month, perMonth }: { account: string; key: string; month: string; perMonth: number },
): Promise<void> {
  const start = `timestamptz '${month}-01 00:00:00Z'`;
  const at = `${start} + n * ((interval '27 days') / ${perMonth}) + interval '7 milliseconds'`;
  await money.asOwner(`
    INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, input_price,
      output_price, cache_hit_price, cost, charge, basis, billing_day, upstream, upstream_model, upstream_request_id, upstream_cost, streamed,
      duration_ms, first_byte_ms, clamped, other_tokens, metering, settled_at)
    SELECT '${account}', ${idAt("at", `'${account}${month}' || n`)}, '${key}', CASE WHEN n % 3 = 0 THEN 'acme/large' ELSE 'acme/é "small"' END,
      n % 900, 0, n % 70, 1000000, 1000000, CASE WHEN n % 2 = 0 THEN 100000 END, n % 900 + n % 70, n % 900 + n % 70,
      CASE WHEN n % 5 = 0 THEN 'estimated' ELSE 'exact' END, (at AT TIME ZONE 'Asia/Jakarta')::date, 'up', NULL, 'chatcmpl-' || n,
      CASE WHEN n % 4 > 0 THEN 9007199254740993 END, n % 2 = 0, n % 5000, CASE WHEN n % 2 = 0 THEN n % 300 END, false, NULL,
      CASE WHEN n % 7 = 0 THEN '{"rules": ["a"], "factor": 0.10}'::jsonb END, CASE WHEN n % 11 > 0 THEN at + interval '1.234567 s' END
    FROM (SELECT n, ${at} AS at FROM generate_series(0, ${perMonth - 1}) AS series(n)) made;
    UPDATE account SET posted = posted - (SELECT sum(n % 900 + n % 70) FROM generate_series(0, ${perMonth - 1}) AS series(n)) WHERE id = '${account}'`);
}

/** Requests that stay at hand, each for its own reason. */
async function nameRequests(
  money: MoneySetup,
  { account, key, first, second }: Readonly<Record<"account" | "key" | "first" | "second", string>>,
) {
  const make = async ({ at, settled, text, loss = 0, basis = "exact" }: Made): Promise<string> => {
    const [row] = (await money.asOwner(`
      INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, input_price,
        output_price, cache_hit_price, cost, charge, basis, billing_day, streamed, duration_ms, settled_at)
      SELECT '${account}', ${idAt(at, `'${text}'`)}, '${key}', 'acme/large', 100, 0, 0, 5000000000, 1000000, NULL, 500000, 500000 - ${loss}, '${basis}',
        ((${at}) AT TIME ZONE 'Asia/Jakarta')::date, true, 1, ${settled} RETURNING request_id`)) as {
      request_id: string;
    }[];
    await money.asOwner(`UPDATE account SET posted = posted - 500000 + ${loss} WHERE id = '${account}'`);
    return row?.request_id ?? "";
  };
  const inside = `timestamptz '${first}-15 10:00:00Z'`;
  const soon = `${inside} + interval '3 s'`;
  const lost = await make({ at: inside, settled: soon, text: "lost", loss: 1_000 });
  await money.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
    VALUES ('${account}', '${lost}', '${lost}', 'IDR/6', '${systemAccounts.operatorLoss}', '${systemAccounts.revenue}', 1000, 'uncollected')`);
  const recovered = await make({ at: inside, settled: soon, text: "recovered", basis: "recovered" });
  await postLateUsage(money.opened.database, settlement(account, recovered, 250));
  const owed = await make({ at: inside, settled: soon, text: "owed", basis: "recovered" });
  const noted = await make({ at: inside, settled: soon, text: "noted" });
  await withTransaction(money.opened.database, (client) =>
    creditUsageByOperator(client, { requestId: noted, amount: 400n, note: "a test", name: "one" }),
  );
  // Across the end of a month of UTC, across one of Jakarta, and long after the request.
  const utc = `timestamptz '${second}-01 00:00:00Z'`;
  const jakarta = `(timestamptz '${second}-01 00:00:00Z' - interval '7 hours')`;
  const justBefore = "- interval '300 milliseconds'";
  await make({ at: `${utc} ${justBefore}`, settled: `${utc} + interval '2 s'`, text: "utc" });
  await make({ at: `${jakarta} ${justBefore}`, settled: `${jakarta} + interval '2 s'`, text: "jakarta" });
  await make({ at: inside, settled: `${utc} + interval '5 days'`, text: "late" });
  return { lost, recovered, owed, noted };
}
