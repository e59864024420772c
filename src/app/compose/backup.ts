// The part of the composition that keeps a backup folder up to date with the log of the embedded database.

import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import { backupKeys } from "../../database/backup/sealed-file.ts";
import {
  RECEIVER,
  type ReceiverEvent,
  receiveWal,
  requireSynchronousReceiver,
} from "../../database/backup/wal-receiver.ts";
import type { DatabaseOptions } from "../../database/database.ts";
import { findEmbeddedAddress } from "../../database/embedded/embedded-postgres.ts";
import { readOwnKey } from "./secrets.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

const RETRY_PAUSE_MS = 1_000;

type ReceivingOptions = {
  readonly config: Pick<Config, "backupDir" | "backupKeys" | "backupSynchronous" | "dataDir" | "secretsKeys">;
  readonly logger: Pick<EventLogger, "info" | "error">;
};

export type Receiving = {
  /** Since when nothing of the log has become durable. */
  ageSeconds(): number;
  stop(): Promise<void>;
};

/**
 * A receiver that commits wait for. It starts with the embedded server, before the first commit; `open` is for opening that. Before anything
 * is served, `requireWaiting` has an error where another program has started the server without it.
 */
export function synchronousReceiver(options: ReceivingOptions) {
  let receiving: Receiving | null = null;
  const open: Required<Pick<DatabaseOptions, "serverSettings" | "onServer">> = {
    serverSettings: { synchronous_standby_names: RECEIVER },
    onServer: () => void (receiving ??= receiveLog(options)),
  };
  return {
    open,
    requireWaiting: requireSynchronousReceiver,
    ageSeconds: () => receiving?.ageSeconds() ?? 0,
    stop: async () => receiving?.stop(),
  };
}

/** Receives the log into SALDO_BACKUP_DIR, again after each failure. Null: the setting is not there. */
export function receiveLog({ config, logger }: ReceivingOptions): Receiving | null {
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
  const onEvent = (event: ReceiverEvent): void => {
    if (event === "slot_lost")
      logger.error({ event: "backup.slot.lost" }, "the database has removed log that SALDO_BACKUP_DIR does not have");
    if (event === "base_missing")
      logger.info({ event: "backup.base.started" }, "a base backup is taken: SALDO_BACKUP_DIR has none for this log");
    if (event === "base_taken") logger.info({ event: "backup.base.taken" }, "the base backup is taken");
  };
  const receiving = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const login = await findEmbeddedAddress(config);
        const secretsKey = { read: () => readOwnKey(config.dataDir), mayAppear: config.secretsKeys.length === 0 };
        const isSynchronous = config.backupSynchronous;
        await receiveWal({ login, root, keys, isSynchronous, onDurable, onEvent, secretsKey }, stopping.signal);
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
export function addBackupMetric(registry: Registry, receiving: Pick<Receiving, "ageSeconds"> | null): void {
  const gauge: Gauge = new Gauge({
    name: "saldo_backup_log_age_seconds",
    help: "Since when nothing of the database's log has become durable in SALDO_BACKUP_DIR; 0 without that setting",
    registers: [registry],
    collect: () => gauge.set(receiving?.ageSeconds() ?? 0),
  });
}
