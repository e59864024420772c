// Which cell of which deployment a database is. Each start with cells compares: with two addresses exchanged, accounts would be looked
// for in the wrong database, and opened there again.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** The name of the cell that has people and operators: the database of DATABASE_URL, or the embedded one. */
export const HOME_CELL = "home";

/** A cell of a deployment. */
export type CellClaim = { readonly deployment: string; readonly cell: string };

/** A database is another cell than the settings name. */
export class WrongCell extends Error {}

const READ = `SELECT deployment, cell FROM database_purpose WHERE cell IS NOT NULL`;
// The first claim stays.
const CLAIM = `UPDATE database_purpose SET deployment = $1::uuid, cell = $2 WHERE cell IS NULL`;

/** Null: the database is no cell. It may be the only database of a deployment without cells. */
export async function readCellClaim(client: Queryable): Promise<CellClaim | null> {
  return (await client.query<CellClaim>(READ)).rows[0] ?? null;
}

/** The name of the cell where a database is another than the home. Null: it is the home, or no cell. */
export async function readOtherCell(client: Queryable): Promise<string | null> {
  const claim = await readCellClaim(client);
  return claim === null || claim.cell === HOME_CELL ? null : claim.cell;
}

/** Makes a database the home cell of a new deployment, or finds of which it is. Its purpose is claimed. Errors: WrongCell. */
export async function claimHome(client: Queryable): Promise<string> {
  await client.query(CLAIM, [uuidv7(), HOME_CELL]);
  const claim = await readCellClaim(client);
  invariant(claim !== null, "a database that was claimed is a cell");
  if (claim.cell !== HOME_CELL) throw new WrongCell(isCell(claim.cell));
  return claim.deployment;
}

/**
 * Makes a database a cell of a deployment, or checks that it is that one. `isUsed`: it has accounts already, so it cannot become a cell.
 * Errors: WrongCell.
 */
export async function claimCell(client: Queryable, wanted: CellClaim, isUsed: () => Promise<boolean>): Promise<void> {
  if ((await readCellClaim(client)) === null) {
    if (await isUsed())
      throw new WrongCell(
        `The database of the cell ${wanted.cell} has accounts of its own, which nothing would find. A cell begins with an empty database.`,
      );
    await client.query(CLAIM, [wanted.deployment, wanted.cell]);
  }
  const claim = await readCellClaim(client);
  invariant(claim !== null, "a database that was claimed is a cell");
  if (claim.deployment !== wanted.deployment)
    throw new WrongCell(`SALDO_CELLS: the database of ${wanted.cell} is a cell of another deployment.`);
  // planted: cell-name-guard
  if (claim.cell !== wanted.cell)
    throw new WrongCell(`SALDO_CELLS: the database of ${wanted.cell} is the cell ${claim.cell}.`);
}

/** Checks that a database is the cell of a name, for a command. `mayBeNew`: or no cell yet. Errors: WrongCell. */
export async function requireCell(
  client: Queryable,
  { name, mayBeNew }: { readonly name: string; readonly mayBeNew: boolean },
): Promise<void> {
  const claim = await readCellClaim(client);
  if (claim === null ? mayBeNew : claim.cell === name) return;
  const what = claim === null ? "no cell yet: start the service with it first" : `the cell ${claim.cell}`;
  throw new WrongCell(`SALDO_CELLS: the database of ${name} is ${what}.`);
}

/** Checks that a database may be served from as the home of its deployment. Errors: WrongCell. */
export async function requireHome(client: Queryable): Promise<void> {
  const claim = await readCellClaim(client);
  if (claim !== null && claim.cell !== HOME_CELL) throw new WrongCell(isCell(claim.cell));
}

function isCell(cell: string): string {
  return `The database is the cell ${cell} of a deployment, and not its home: name it in SALDO_CELLS, and the home in DATABASE_URL.`;
}
