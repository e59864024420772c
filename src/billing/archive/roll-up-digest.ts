// The roll-ups of a month, folded to the digest that its seal has. Sums of accounts are of no single model, key or quarter of an hour;
// roll-ups are, and nothing else is shown of the month once its records are in the archive.

import { createHash } from "node:crypto";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import type { Look } from "../../database/throttled-reader.ts";
import { dateOf } from "./archive-store.ts";
import type { Month } from "./month.ts";

const ACCOUNTS_PER_READ = 200;
// The digest is for ever, so these columns are: a later one is left out.
const SUMS =
  "requests, input_tokens_uncached, input_tokens_cached, output_tokens, cost, charge, saved_by_cache, cache_write, cache_write_1h, audio_input, image_input, image_output";
// $1 the month, $2 and $3 its quarters, $4 the account to begin behind.
const DIGESTS = `
SELECT a.account_id AS id, encode(sha256(convert_to(r.lines, 'UTF8')), 'hex') AS digest
FROM (
  SELECT account_id FROM usage_archive_account WHERE month = $1::date AND account_id > $4::uuid ORDER BY account_id LIMIT ${ACCOUNTS_PER_READ}
) a
CROSS JOIN LATERAL (
  SELECT coalesce(string_agg(jsonb_build_array(quarter, model, key_id, basis, ${SUMS})::text, E'\\n'
           ORDER BY quarter, model COLLATE "C", key_id, basis COLLATE "C"), '') AS lines
  FROM usage_roll_up WHERE account_id = a.account_id AND quarter >= $2::int AND quarter < $3::int
) r ORDER BY a.account_id`;

/** SHA-256 over the roll-ups of the accounts that have sums in a month, in hexadecimal. */
export async function foldRollUps(look: Look, month: Month): Promise<string> {
  const digest = createHash("sha256");
  for (let after = BEFORE_ALL_IDS; ;) {
    const values = [dateOf(month), month.fromQuarter, month.untilQuarter, after];
    const rows = await look<{ id: string; digest: string }>(DIGESTS, values);
    const last = rows.at(-1);
    if (last === undefined) return digest.digest("hex");
    for (const row of rows) digest.update(`${row.id} ${row.digest}\n`);
    after = last.id;
  }
}
