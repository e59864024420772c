// Applies the schema changes of this code, and refuses a schema that this code is too old for.

import type { ClientConfig } from "pg";
import { withClient } from "./connections.ts";
import { type SchemaCode, schemaCode } from "./migrations/migrations.ts";
import type { Patience } from "./schema/patience.ts";
import type { Turn } from "./schema/migration-lock.ts";
import { readFunctionFiles } from "./schema/function-files.ts";
import { readOwnerRights } from "./schema/owner-rights.ts";
import { lackingOf, readSchemaState } from "./schema/schema-state.ts";
import { sqlState } from "./transactions.ts";

const INSUFFICIENT_PRIVILEGE = "42501";

/** Applies what is missing, as the owner of the schema. Returns what it applied, by name. */
export async function migrate(
  owner: ClientConfig,
  { code = schemaCode, patience, turn }: { code?: SchemaCode; patience?: Patience; turn?: Turn } = {},
): Promise<string[]> {
  const files = await readFunctionFiles(code.functionsFolder);
  const state = await withClient(owner, readSchemaState);
  const { migrations, functions } = lackingOf(state, code, files);
  if (migrations.length === 0 && functions.length === 0) return [];
  // Nearly every start finds nothing to do, and loads nothing for it.
  const { applyMissing } = await import("./schema/apply.ts");
  try {
    return await applyMissing({ owner, code, files, patience, turn });
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    const { login, statements } = await withClient(owner, readOwnerRights);
    const remedy =
      statements.length === 0
        ? "Set DATABASE_OWNER_URL to the login that owns the schema."
        : `The login ${login} lacks rights. Run this in the database, as a superuser or as the owner of what it names: ` +
          statements.join(" ");
    throw new Error(
      `The schema of database ${state.database} has to be brought up to date, and this login may not. ${remedy}`,
      { cause: error },
    );
  }
}
