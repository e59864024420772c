// Stops of payouts that operators order: all of them, those of a chain, or those of one wallet. A stop is a row, so it survives
// restarts and counts on every node. While one is set no nonce is taken, nothing is signed and nothing is handed to a network;
// what the network has is watched as ever.

import type { Pool, PoolClient } from "pg";

type Queryable = Pick<Pool | PoolClient, "query">;

const SET = `
INSERT INTO payout_stop (scope, operator, reason) VALUES ($1, $2, $3) ON CONFLICT (scope) DO NOTHING RETURNING scope`;
const CLEAR = `DELETE FROM payout_stop WHERE scope = $1`;
const LIST = `SELECT scope, operator, reason, stopped_at AS "stoppedAt" FROM payout_stop ORDER BY scope`;
const IS_STOPPED = `SELECT EXISTS (SELECT FROM payout_stop WHERE scope = ANY ($1::text[])) AS is_stopped`;

/** Which payouts a stop is for. Both empty: all. An address needs its chain. */
export type StopScope = { readonly chain: string; readonly address: string };

export type PayoutStop = StopScope & {
  readonly operator: string;
  readonly reason: string;
  readonly stoppedAt: Date;
};

const ALL = "all";

/** Sets a stop. False: it was set before, and stays as it was. */
export async function setStop(
  client: PoolClient,
  { operator, reason, ...scope }: StopScope & { operator: string; reason: string },
): Promise<boolean> {
  return (await client.query(SET, [nameOf(scope), operator, reason])).rowCount === 1;
}

/** Ends a stop. Others that cover the same wallets stay. False: there was none. */
export async function clearStop(client: PoolClient, scope: StopScope): Promise<boolean> {
  return (await client.query(CLEAR, [nameOf(scope)])).rowCount === 1;
}

/** The stops that are set. */
export async function listStops(client: Queryable): Promise<PayoutStop[]> {
  const { rows } = await client.query<Omit<PayoutStop, keyof StopScope> & { scope: string }>(LIST);
  return rows.map(({ scope, ...stop }) => ({ ...scopeNamed(scope), ...stop }));
}

/** Whether a wallet's payouts are stopped. */
export async function isStopped(client: Queryable, { chain, address }: StopScope): Promise<boolean> {
  const scopes = [ALL, chain, nameOf({ chain, address })];
  return (await client.query<{ is_stopped: boolean }>(IS_STOPPED, [scopes])).rows[0]?.is_stopped !== false;
}

function nameOf({ chain, address }: StopScope): string {
  if (chain === "") return ALL;
  return address === "" ? chain : `${chain} ${address}`;
}

function scopeNamed(name: string): StopScope {
  const [chain = "", address = ""] = name === ALL ? [] : name.split(" ");
  return { chain, address };
}
