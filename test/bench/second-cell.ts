// A second cell of the measured gateway: another database of its server, so that the processor time of both is one number.

import { findEmbeddedAddress } from "../../src/database/embedded/embedded-postgres.ts";
import { type Database, openDatabase, withOwner } from "../../src/database/database.ts";
import { seedKeys } from "./accounts.ts";

const NAME = "second";
const PLACE_ACCOUNTS = `INSERT INTO account (id, cell) SELECT unnest($1::uuid[]), '${NAME}'`;
const ACCOUNTS = "SELECT DISTINCT account_id AS id FROM api_key";

/** Makes its database on the embedded server of a data folder. Returns its address. */
export async function makeSecondCell(dataDir: string): Promise<string> {
  const server = await openDatabase({ dataDir, applicationName: "bench" });
  try {
    await withOwner({ dataDir }, (owner) => owner.query(`CREATE DATABASE ${NAME}`));
    const { host, user } = await findEmbeddedAddress({ dataDir });
    return `postgres://${user}@localhost/${NAME}?host=${encodeURIComponent(host)}`;
  } finally {
    await server.close();
  }
}

/** The settings of a gateway that has it. */
export function withSecondCell(url: string): NodeJS.ProcessEnv {
  return { SALDO_CELLS: `${NAME}=${url}` };
}

/** The words by which a command works on it. */
export const ON_SECOND_CELL = ["--cell", NAME];

/** Issues keys on as many new accounts of it, and gives each account its row in the home cell. Returns what was credited. */
export async function seedSecondCell(
  { home, second }: { readonly home: Database; readonly second: Database },
  seed: { readonly secrets: readonly string[]; readonly accounts: number; readonly credit: bigint },
): Promise<bigint> {
  const credited = await seedKeys(second.pool, { ...seed, accountIds: null });
  const { rows } = await second.pool.query<{ id: string }>(ACCOUNTS);
  await home.pool.query(PLACE_ACCOUNTS, [rows.map(({ id }) => id)]);
  return credited;
}
