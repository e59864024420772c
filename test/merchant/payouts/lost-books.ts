// Books that lack what the network has, as after a restore: the engine pays on a copy of the database that is dropped then, so that
// the former books go on without these payments. The nodes' journals have them.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Hex } from "viem";
import { afterAll, beforeAll } from "vitest";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import type { BooksGuardOptions } from "../../../src/merchant/payouts/books-guard.ts";
import { journalFolder } from "../../../src/merchant/payouts/signed-journal.ts";
import { PayoutEngine } from "../../../src/merchant/payouts/payout-engine.ts";
import { findStop, resumeWallet } from "../../../src/operator/commands/payouts.ts";
import { onServer, urlOfDatabase } from "../../setup/test-servers.ts";
import { EvmSetup, PATIENT } from "./evm-setup.ts";

/** What a run on a copy of the books needs. */
type Lost = (engine: PayoutEngine, database: Database) => Promise<void>;

/** Opens a setup for a group of tests. */
export function testing(): { setup: () => EvmSetup } & ReturnType<typeof helpersOf> {
  let setup: EvmSetup;
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterAll(() => setup.close());
  return { setup: () => setup, ...helpersOf(() => setup) };
}

/** What tests do with the books of a setup. */
export function helpersOf(setup: () => EvmSetup) {
  const wallet = (chain = setup().chain()) => ({ chains: [chain], name: chain.name });
  return {
    stopReason: async () => (await findStop(setup().database.pool, wallet()))?.stopReason ?? null,
    resume: async ({ adopts = false, firstNonce = null as number | null, chain = setup().chain() } = {}) => {
      const stop = await findStop(setup().database.pool, wallet());
      const meant = {
        ...wallet(chain),
        stoppedAt: stop?.stoppedAt ?? new Date(0),
        reason: "looked at",
        adopts,
        firstNonce,
      };
      return resumeWallet({ database: setup().database, operator: "test" }, meant);
    },
    /** Lets an engine work, and the books forget it. */
    lose: async (work: Lost, guards: Partial<BooksGuardOptions> & { folder?: string } = {}): Promise<void> => {
      const { url } = setup().opened;
      const copy = `saldo_lost_${uuidv7().replaceAll("-", "")}`;
      const source = new URL(url).pathname.slice(1);
      // A database is copied while it has no connection; our pool connects again.
      const [server, copyUrl] = [urlOfDatabase(url, "postgres"), urlOfDatabase(url, copy)];
      await onServer(
        server,
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${source}'`,
      );
      await onServer(server, `CREATE DATABASE ${copy} TEMPLATE ${source} STRATEGY file_copy`);
      const database = await openDatabase({ url: copyUrl, dataDir: "" });
      try {
        const { pool } = database;
        const guard = setup().guard({ pool, ...guards });
        const serves = { environment: "production", network: "ethereum" } as const;
        await work(
          new PayoutEngine({ pool, chain: setup().chain(), serves, policy: PATIENT, report: () => {}, guard }),
          database,
        );
      } finally {
        await database.close();
        await onServer(server, `DROP DATABASE ${copy} WITH (FORCE)`);
      }
    },
    /** What the wallet and the journals were last compared with is a former timeline now. */
    changeTimeline: () =>
      onServer(
        setup().opened.url,
        "UPDATE wallet SET timeline = timeline - 1; UPDATE payout_journal SET timeline = timeline - 1",
      ),
  };
}

/** The amounts that a recipient got. */
export const paymentsTo = async (setup: EvmSetup, to: Hex) =>
  (await setup.anvil.tokenTransfersTo(setup.token, to)).map(({ value }) => value);

/** Rewrites the lines of the journal. Null removes one. */
export async function rewriteJournal(
  setup: EvmSetup,
  change: (entry: Record<string, unknown>) => Record<string, unknown> | null,
) {
  const folder = journalFolder(setup.journals, { chain: "ethereum", address: setup.hot.address });
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(".log"))) {
    const lines = (await readFile(join(folder, name), "utf8")).split("\n").filter((line) => line !== "");
    const changed = lines.flatMap((line) => {
      const entry = change(JSON.parse(line.slice(9)));
      if (entry === null) return [];
      const json = JSON.stringify(entry);
      return [`${crc32(json).toString(16).padStart(8, "0")} ${json}\n`];
    });
    if (changed.length === 0) await rm(join(folder, name));
    else await writeFile(join(folder, name), changed.join(""));
  }
}
