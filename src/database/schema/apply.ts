// Applies what a database lacks. One start at a time does so. Each change is a transaction of its own that waits for a lock a
// moment only, because every statement behind a waiting change waits as well; then it ends and tries again.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientConfig } from "pg";
import { withClient } from "../connections.ts";
import { readMigration, recordMigration } from "../migrations/migration-file.ts";
import { labelOf, type Migration, type SchemaCode } from "../migrations/migrations.ts";
import { sqlState, sqlStates } from "../transactions.ts";
import { adoptFormerSchema } from "./adoption/adopt.ts";
import { applyBaseline } from "./baseline.ts";
import { applyConcurrently } from "./concurrent-index.ts";
import { applyFunctions, type FunctionFile } from "./function-files.ts";
import { type Turn, withMigrationLock } from "./migration-lock.ts";
import { PATIENCE, type Patience } from "./patience.ts";
import { lackingOf, readSchemaState, type SchemaState } from "./schema-state.ts";

const LOST_A_LOCK: ReadonlySet<string | undefined> = new Set([sqlStates.lockTimeout, sqlStates.deadlock]);

/** What is applied where: the changes of the code, and its functions as they were read. */
export type Work = {
  readonly owner: ClientConfig;
  readonly code: SchemaCode;
  readonly files: readonly FunctionFile[];
  readonly patience?: Patience | undefined;
  readonly turn?: Turn | undefined;
};
type Step = { readonly names: readonly string[]; readonly run: () => Promise<void> };

/** Applies all that is missing. Returns what this start applied, by name. */
export function applyMissing(work: Work): Promise<string[]> {
  return withMigrationLock(work.owner, work.turn ?? {}, () => applyAll(work));
}

/** Looks again after each step: another start may have done it while this one waited for its turn. */
async function applyAll(work: Work): Promise<string[]> {
  const applied: string[] = [];
  for (;;) {
    const state = await withClient(work.owner, readSchemaState);
    const step = nextStep(state, work);
    if (step === undefined) return applied;
    await untilUnlocked(step, state, work.patience ?? PATIENCE);
    applied.push(...step.names);
  }
}

function nextStep(state: SchemaState, work: Work): Step | undefined {
  const { owner, code, files, patience = PATIENCE } = work;
  const inTransaction = (names: readonly string[], apply: (client: Client) => Promise<void>): Step => ({
    names,
    run: () => withClient(owner, (client) => transact(client, patience, apply)),
  });
  const { migrations, functions } = lackingOf(state, code, files);
  const [migration] = migrations;
  if (migration === undefined) {
    if (functions.length === 0) return undefined;
    return inTransaction(
      functions.map(({ name }) => `functions/${name}`),
      (client) => applyFunctions(client, functions),
    );
  }
  const names = [labelOf(migration)];
  if (migration.number === 1) {
    const bring = state.formerMigration === null ? applyBaseline : adoptFormerSchema;
    return inTransaction(names, (client) => bring(client, { state, migration, code, files }));
  }
  if (migration.concurrent === true) {
    return { names, run: () => withClient(owner, (client) => applyConcurrently(client, migration, code)) };
  }
  return inTransaction(names, (client) => applyFile(client, migration, work));
}

async function applyFile(client: Client, migration: Migration, { code, files }: Work): Promise<void> {
  await recordMigration(client, migration);
  const used = files.filter(({ name }) => migration.uses?.includes(name));
  await applyFunctions(client, used);
  await client.query(await readMigration(migration, code));
}

/** A connection that ends without a COMMIT is rolled back. */
async function transact(
  client: Client,
  { lockTimeoutMs }: Patience,
  apply: (client: Client) => Promise<void>,
): Promise<void> {
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL statement_timeout = 0`);
  await apply(client);
  await client.query("COMMIT");
}

async function untilUnlocked({ names, run }: Step, { database }: SchemaState, patience: Patience): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run();
      return;
    } catch (error) {
      if (!LOST_A_LOCK.has(sqlState(error))) throw error;
      if (attempt === patience.attempts) {
        throw new Error(
          `${names.join(", ")} of database ${database} was tried ${attempt} times and did not get its locks: other ` +
            `sessions hold them. Start again when they have ended; pg_stat_activity shows them.`,
          { cause: error },
        );
      }
      await sleep(patience.pauseMs * (1 + Math.random()));
    }
  }
}
