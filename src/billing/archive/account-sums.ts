// The sums of a month's accounts as they are in the database, folded to the digest that the seal has.

import { createHash } from "node:crypto";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { type AccountSums, accountLine } from "./month-fold.ts";

const ACCOUNTS_PER_READ = 5_000;
const SUMS = `
SELECT account_id AS "accountId", requests, input_tokens_uncached AS "inputTokensUncached", input_tokens_cached AS "inputTokensCached",
  output_tokens AS "outputTokens", cost::text AS cost, charge::text AS charge, loss::text AS loss, first_id AS "firstId", last_id AS "lastId"
FROM usage_archive_account WHERE month = $1::date AND account_id > $2::uuid ORDER BY account_id LIMIT ${ACCOUNTS_PER_READ}`;

type Row = Omit<AccountSums, "cost" | "charge" | "loss"> & Readonly<Record<"cost" | "charge" | "loss", string>>;
/** Reads rows, by a connection of the owner or as an audit does. */
type Read = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** What the sums in the database come to. `month` is its first day. */
export async function foldAccountSums(
  read: Read,
  month: string,
): Promise<{ accounts: number; cost: bigint; charge: bigint; accountsDigest: string }> {
  const digest = createHash("sha256");
  const folded = { accounts: 0, cost: 0n, charge: 0n };
  for (let after = BEFORE_ALL_IDS; ;) {
    const rows = await read(SUMS, [month, after]);
    const last = rows.at(-1);
    if (last === undefined) return { ...folded, accountsDigest: digest.digest("hex") };
    for (const row of rows) {
      const sums = { ...row, cost: BigInt(row.cost), charge: BigInt(row.charge), loss: BigInt(row.loss) };
      digest.update(accountLine(sums));
      folded.accounts += 1;
      folded.cost += sums.cost;
      folded.charge += sums.charge;
    }
    after = last.accountId;
  }
}
