// Disputes of payers, which a provider reports but cannot be asked about. They move no money: an operator reads the provider's dashboard, and
// corrects the account by hand when the bank has taken the payment back.

import type { PoolClient } from "pg";
import type { ReportedDispute } from "../payments/payment-provider.ts";
import { lockTopUp } from "./store.ts";
import type { TopUp } from "./top-up.ts";

// Notifications come in any order. A dispute that has ended stays so; a later report may only change its end.
const REPORT = `
INSERT INTO payment_dispute AS d (provider, dispute_id, top_up_id, state) VALUES ($1, $2, $3::uuid, $4)
ON CONFLICT (provider, dispute_id) DO UPDATE SET state = excluded.state, told_at = clock_timestamp()
WHERE d.state = 'open' OR excluded.state <> 'open'`;
const SHOW = `
UPDATE top_up t SET dispute = latest.dispute, revision = revision + 1, changed_at = clock_timestamp()
FROM (
  SELECT CASE WHEN bool_or(state = 'open') THEN 'open' WHEN bool_or(state = 'lost') THEN 'lost' END AS dispute
  FROM payment_dispute WHERE top_up_id = $1::uuid
) latest
WHERE t.id = $1::uuid AND t.dispute IS DISTINCT FROM latest.dispute`;

// The whole payment went back, so nothing is left to take for the disputes that were reported until then.
const SETTLE = `UPDATE payment_dispute SET state = 'settled' WHERE top_up_id = $1::uuid AND state IN ('open', 'lost')`;

/** Stores a provider's report of a dispute, and updates the top-up's summary of its disputes. */
export async function recordDispute(
  client: PoolClient,
  { provider, topUpId, dispute }: { provider: string; topUpId: string; dispute: ReportedDispute },
): Promise<void> {
  // Behind its lock each report sees the one before.
  await lockTopUp(client, topUpId);
  const { rowCount } = await client.query(REPORT, [provider, dispute.id, topUpId, dispute.state]);
  if (rowCount === 1) await client.query(SHOW, [topUpId]);
}

/** Ends the disputes of a top-up that was given back whole, behind its lock. One that ends otherwise later is shown again. */
export async function settleDisputes(client: PoolClient, topUpId: string): Promise<void> {
  await client.query(SETTLE, [topUpId]);
}

const SENTENCES: Readonly<Record<NonNullable<TopUp["dispute"]>, string>> = {
  open: "The payer disputes the payment. The provider asks for an answer in its dashboard. Nothing was taken back for it.",
  lost: "The payer disputes the payment, and the bank has taken it back. Nothing was taken from the account for it.",
};

/** What needs an operator's attention, in sentences; null: nothing does. */
export function troubleOf({ problem, dispute }: Pick<TopUp, "problem" | "dispute">): string | null {
  const sentences = [problem, dispute === null ? null : SENTENCES[dispute]].filter((each) => each !== null);
  return sentences.length === 0 ? null : sentences.join(" ");
}
