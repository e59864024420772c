// The most that a wallet sends of a currency on a day in Jakarta. The counter is written behind the wallet's lock together with the
// nonce; a payment that is reverted later does not give its part of the day back.

import type { Pool, PoolClient } from "pg";
import type { Asset } from "../../kernel/money.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const TODAY = `(clock_timestamp() AT TIME ZONE 'Asia/Jakarta')::date`;
const READ = `SELECT asset, units FROM wallet_day WHERE wallet_id = $1::uuid AND day = ${TODAY}`;
const COUNT = `
INSERT INTO wallet_day AS d (wallet_id, asset, day, units)
SELECT $1::uuid, $2, ${TODAY}, $3::numeric WHERE $3::numeric <= $4::numeric
ON CONFLICT (wallet_id, asset) DO UPDATE
SET day = EXCLUDED.day, units = CASE WHEN d.day = EXCLUDED.day THEN d.units ELSE 0 END + EXCLUDED.units
WHERE CASE WHEN d.day = EXCLUDED.day THEN d.units ELSE 0 END + EXCLUDED.units <= $4::numeric`;
const OF_ALL = `
SELECT w.chain, w.address, d.asset, d.units FROM wallet_day d JOIN wallet w ON w.id = d.wallet_id WHERE d.day = ${TODAY}`;

/** The most units of each asset on a day. An asset that is not named has no cap. */
export type DailyCaps = Readonly<Record<Asset, bigint>>;

/** What a wallet sends today, by asset. */
export async function readDay(client: Queryable, walletId: string): Promise<Map<Asset, bigint>> {
  const { rows } = await client.query<{ asset: Asset; units: string }>(READ, [walletId]);
  return new Map(rows.map(({ asset, units }) => [asset, BigInt(units)]));
}

/** Counts a payment on the day, behind the lock of its wallet. False: it would be above the cap, and nothing is counted. */
export async function countOnDay(
  client: PoolClient,
  { walletId, asset, units, cap }: { walletId: string; asset: Asset; units: bigint; cap: bigint | undefined },
): Promise<boolean> {
  if (cap === undefined) return true;
  return (await client.query(COUNT, [walletId, asset, units, cap])).rowCount === 1;
}

/** What every wallet sends today. */
export async function readDays(
  client: Queryable,
): Promise<{ chain: string; address: string; asset: Asset; units: bigint }[]> {
  const { rows } = await client.query<{ chain: string; address: string; asset: Asset; units: string }>(OF_ALL);
  return rows.map((row) => ({ ...row, units: BigInt(row.units) }));
}
