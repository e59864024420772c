// The tables of the tree of a root: each account's place among the leaves, and the nodes. Rows are added and never changed, so the
// tree of every seal can be read.

import type { Pool } from "pg";
import type { Look } from "../../database/throttled-reader.ts";
import { leafText } from "./chain.ts";
import { leafHash } from "./merkle.ts";
import { type AccountSeal, SEAL, sealOf, type SealRow } from "./seal-store.ts";

/** How many nodes one node of the level above is over. */
export const WIDTH = 16;
/** How many nodes are read or written at once. */
const NODES_PER_PAGE = 500;

/** A hash at its position in its level. */
export type Node = { readonly position: number; readonly hash: Buffer };

// $1 positions of nodes, $2 the seal, $3 how many leaves its tree has.
const LEAVES = `
SELECT p.position, s.* FROM unnest($1::int[]) AS above(position)
JOIN proof_place p ON p.position >= above.position * ${WIDTH} AND p.position < least((above.position + 1) * ${WIDTH}, $3::int)
CROSS JOIN LATERAL (${SEAL} WHERE account_id = p.account_id AND seal <= $2::int ORDER BY seal DESC LIMIT 1) s`;
// $1 positions, $2 the seal, $3 the level: each node as it was at that seal.
const NODES = `
SELECT wanted.position, n.hash FROM unnest($1::int[]) AS wanted(position)
CROSS JOIN LATERAL (
  SELECT hash FROM proof_node WHERE level = $3::int AND position = wanted.position AND seal <= $2::int ORDER BY seal DESC LIMIT 1
) n`;
const ADD_NODES = `
INSERT INTO proof_node (level, position, seal, hash)
SELECT $1::int, position, $2::int, hash FROM unnest($3::int[], $4::bytea[]) AS node(position, hash)
ON CONFLICT (level, position, seal) DO NOTHING`;
const PLACES = `
SELECT a.id AS "accountId", p.position FROM unnest($1::uuid[]) AS a(id) LEFT JOIN proof_place p ON p.account_id = a.id`;
const PLACES_FROM = `SELECT account_id AS "accountId", position FROM proof_place WHERE position >= $1::int ORDER BY position LIMIT $2::int`;
const ADD_PLACES = `
INSERT INTO proof_place (position, account_id)
SELECT $1::int + number - 1, id FROM unnest($2::uuid[]) WITH ORDINALITY AS a(id, number) ON CONFLICT DO NOTHING`;

/** The leaves under nodes of level 1, as they were at a seal whose tree has so many. */
export async function readLeavesUnder(
  look: Look,
  above: readonly number[],
  { seal, accounts }: { seal: number; accounts: number },
): Promise<Map<number, Node[]>> {
  const found = new Map<number, Node[]>();
  for (const page of pagesOf(above)) {
    const rows = await look<SealRow & { position: number }>(LEAVES, [page, seal, accounts]);
    for (const { position, ...row } of rows.toSorted((one, other) => one.position - other.position))
      addUnder(found, { position, hash: leafOf(sealOf(row)) });
  }
  return found;
}

/** The nodes under those of the level above, as they were at a seal whose level has so many. */
export async function readNodesUnder(
  look: Look,
  above: readonly number[],
  { level, seal, count }: { level: number; seal: number; count: number },
): Promise<Map<number, Node[]>> {
  const found = new Map<number, Node[]>();
  const below = above.flatMap((position) => Array.from({ length: WIDTH }, (_, at) => position * WIDTH + at));
  const nodes = await readNodes(
    look,
    below.filter((position) => position < count),
    { level, seal },
  );
  for (const node of nodes) addUnder(found, node);
  return found;
}

/** Nodes of a level, as they were at a seal, by their position. */
export async function readNodes(
  look: Look,
  positions: readonly number[],
  { level, seal }: { level: number; seal: number },
): Promise<Node[]> {
  const found: Node[] = [];
  for (const page of pagesOf(positions)) found.push(...(await look<Node>(NODES, [page, seal, level])));
  return found.toSorted((one, other) => one.position - other.position);
}

export async function addNodes(
  pool: Pool,
  { level, seal, nodes }: { level: number; seal: number; nodes: readonly Node[] },
): Promise<void> {
  for (const page of pagesOf(nodes))
    await pool.query(ADD_NODES, [level, seal, page.map(({ position }) => position), page.map(({ hash }) => hash)]);
}

/** Where accounts are among the leaves. Those without a place are left out. */
export async function readPlaces(look: Look, accountIds: readonly string[]): Promise<Map<string, number>> {
  const places = new Map<string, number>();
  for (const page of pagesOf(accountIds)) {
    const rows = await look<{ accountId: string; position: number | null }>(PLACES, [page]);
    for (const { accountId, position } of rows) if (position !== null) places.set(accountId, position);
  }
  return places;
}

/** The accounts at a position and behind it, in their order: at most so many. */
export async function readPlacesFrom(look: Look, position: number, most: number): Promise<string[]> {
  const rows = await look<{ accountId: string; position: number }>(PLACES_FROM, [position, most]);
  return rows.map(({ accountId }) => accountId);
}

/** Gives accounts the places from a position on, in their order. */
export async function addPlaces(pool: Pool, position: number, accountIds: readonly string[]): Promise<void> {
  let from = position;
  for (const page of pagesOf(accountIds)) {
    await pool.query(ADD_PLACES, [from, page]);
    from += page.length;
  }
}

export function leafOf(sealed: AccountSeal): Buffer {
  return leafHash(leafText(sealed.accountId, sealed));
}

function addUnder(found: Map<number, Node[]>, node: Node): void {
  const above = Math.floor(node.position / WIDTH);
  const nodes = found.get(above);
  if (nodes === undefined) found.set(above, [node]);
  else nodes.push(node);
}

function pagesOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / NODES_PER_PAGE) }, (_, page) =>
    items.slice(page * NODES_PER_PAGE, (page + 1) * NODES_PER_PAGE),
  );
}
