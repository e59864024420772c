// The part of the composition that keeps a backup folder up to date with the log of the embedded database.

import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import { backupKeys } from "../../database/backup/sealed-file.ts";
import { receiveWal } from "../../database/backup/wal-receiver.ts";
import { findEmbeddedAddress } from "../../database/embedded/embedded-postgres.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

const RETRY_PAUSE_MS = 1_000;

export type Receiving = {
  /** Since when nothing of the log has become durable. */
  ageSeconds(): number;
  stop(): Promise<void>;
};

/** Receives the log into SALDO_BACKUP_DIR, again after each failure. Null: the setting is not there. */
export function receiveLog({
  config,
  logger,
}: {
  readonly config: Pick<Config, "backupDir" | "backupKeys" | "dataDir">;
  readonly logger: Pick<EventLogger, "info" | "error">;
}): Receiving | null {
  const root = config.backupDir;
  if (root === null) return null;
  const keys = backupKeys(config.backupKeys);
  const stopping = new AbortController();
  let durableAtMs = Date.now();
  let isFailing = false;
  const onDurable = (): void => {
    durableAtMs = Date.now();
    if (isFailing) logger.info({ event: "backup.log.received" }, "the log of the database is received again");
    isFailing = false;
  };
  const receiving = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await receiveWal({ login: await findEmbeddedAddress(config), root, keys, onDurable }, stopping.signal);
      } catch (err) {
        if (!isFailing) logger.error({ event: "backup.log.failed", err }, "the log of the database is not received");
        isFailing = true;
      }
      await sleep(RETRY_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {}); // it was stopped
    }
  })();
  return {
    ageSeconds: () => (Date.now() - durableAtMs) / 1_000,
    async stop() {
      stopping.abort();
      await receiving;
    },
  };
}

/** Adds the age of what was received. */
export function addBackupMetric(registry: Registry, receiving: Receiving | null): void {
  const gauge: Gauge = new Gauge({
    name: "saldo_backup_log_age_seconds",
    help: "Since when nothing of the database's log has become durable in SALDO_BACKUP_DIR; 0 without that setting",
    registers: [registry],
    collect: () => gauge.set(receiving?.ageSeconds() ?? 0),
  });
}
