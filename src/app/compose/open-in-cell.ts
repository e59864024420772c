// The accounts of other cells: which cell a new one comes into, and the row that it gets there.

import type { Pool } from "pg";
import { giveWelcomeCredit } from "../../billing/welcome-credit.ts";
import { HOME_CELL, requireHome, WrongCell } from "../../database/cell-claim.ts";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { readCopiedCustomer, writeCopiedCustomer } from "../../identity/store.ts";
import { countAccountsByCell, openAccountOnce, readCellsInUse } from "../../ledger/accounts.ts";
import type { Config } from "../config/config.ts";

/** Accounts are counted again after so long: a rule need not be exact. */
const COUNTED_FOR_MS = 60_000;

/** Checks that a start serves the home of its deployment, with every cell that has accounts. Errors: WrongCell. */
export async function requireCells(home: Pool, { cells }: Pick<Config, "cells">): Promise<void> {
  await requireHome(home);
  const missing = (await readCellsInUse(home)).filter((cell) => !cells.some(({ name }) => name === cell));
  if (missing.length > 0)
    throw new WrongCell(`Accounts are in cells that SALDO_CELLS does not name: ${missing.join(", ")}.`);
}

/** The rule of new accounts: the name of a cell, null for the home cell. */
export function placementOf(
  { cells, newAccountsIn }: Pick<Config, "cells" | "newAccountsIn">,
  home: Pool,
): () => Promise<string | null> {
  if (newAccountsIn !== "least-full") return () => Promise.resolve(nameOf(newAccountsIn));
  let counted = { atMs: Number.NEGATIVE_INFINITY, counts: new Map<string, number>() };
  return async () => {
    if (performance.now() - counted.atMs > COUNTED_FOR_MS) {
      const found = await countAccountsByCell(home);
      const all = [HOME_CELL, ...cells.map(({ name }) => name)];
      const counts = new Map(all.map((cell) => [cell, found.get(nameOf(cell)) ?? 0]));
      counted = { atMs: performance.now(), counts };
    }
    const [least = HOME_CELL] = [...counted.counts.entries()].toSorted(([, a], [, b]) => a - b)[0] ?? [];
    counted.counts.set(least, (counted.counts.get(least) ?? 0) + 1);
    return nameOf(least);
  };
}

/** The name of a cell as rows of accounts have it. */
function nameOf(cell: string): string | null {
  return cell === HOME_CELL ? null : cell;
}

/** Opens an account in its cell, with its welcome credit, unless that was done before. */
export async function openInCell(
  cell: Pick<Database, "pool">,
  home: Pick<Database, "pool">,
  accountId: string,
): Promise<void> {
  const customer = await readCopiedCustomer(home.pool, accountId);
  await withRetry(() =>
    withTransaction(cell, async (client) => {
      // planted: welcome-once-guard
      if (!(await openAccountOnce(client, accountId))) return;
      if (customer !== null) await writeCopiedCustomer(client, customer);
      await giveWelcomeCredit(client, accountId);
    }),
  );
}
