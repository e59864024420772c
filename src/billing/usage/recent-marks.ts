// The accounts that were rolled up since the last audit: what an incremental run compares of records and roll-ups.

import type { Look } from "../../database/throttled-reader.ts";

/** An account, and the quarter of an hour before which it is rolled up. */
export type RollUpMark = { readonly id: string; readonly before: number };

// One pass over a row of an account.
const RECENT = `
SELECT account_id AS id, before_quarter AS before FROM usage_rolled_up
WHERE rolled_at > (SELECT coalesce(covered_at, '-infinity') FROM audit_run WHERE kind = 'incremental') ORDER BY account_id`;

export function recentMarks(look: Look): Promise<RollUpMark[]> {
  return look<RollUpMark>(RECENT, [], "table");
}
