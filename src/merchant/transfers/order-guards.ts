// Checks that stop an order inside its own transaction: a pair that was revoked meanwhile, and a sandbox merchant over
// its daily number.

import type { PoolClient } from "pg";
import type { Environment } from "../../identity/principal.ts";
import { InvalidCredentials, LimitExceeded } from "../../kernel/errors.ts";

// The lock makes a revocation wait for orders under way, so after it has returned no order of the pair is accepted.
const LOCK_WORKING_PAIR = `
SELECT FROM merchant_credential WHERE id = $1::uuid AND revoked_at IS NULL FOR SHARE`;
const HAS_ORDERED = `
SELECT FROM transfer WHERE merchant_id = $1::uuid AND created_at > clock_timestamp() - interval '24 hours'
ORDER BY created_at DESC, id DESC OFFSET $2::int - 1 LIMIT 1`;

export type GuardedOrder = {
  readonly merchantId: string;
  readonly environment: Environment;
  /** The pair that orders. Left out: a person or a service orders. */
  readonly pairId?: string | undefined;
};

/** Stops an order that must not be placed. Errors: InvalidCredentials, LimitExceeded. */
export async function guardOrder(
  client: PoolClient,
  { merchantId, environment, pairId }: GuardedOrder,
  sandboxOrdersADay: number | undefined,
): Promise<void> {
  if (pairId !== undefined && (await client.query(LOCK_WORKING_PAIR, [pairId])).rowCount === 0) {
    throw new InvalidCredentials();
  }
  if (environment !== "sandbox" || sandboxOrdersADay === undefined) return;
  if ((await client.query(HAS_ORDERED, [merchantId, sandboxOrdersADay])).rowCount === 0) return;
  throw new LimitExceeded(`A sandbox merchant may order ${sandboxOrdersADay} transfers in 24 hours.`);
}
