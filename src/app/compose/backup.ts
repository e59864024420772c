// The part of the composition that keeps a backup folder up to date with the log of the embedded database.

import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import { MissingBase } from "./missing-base.ts";
import { addGauges, type OptionalSeries } from "../observability/metrics.ts";
import { type FolderState, readFolderState } from "../../database/backup/folder-state.ts";
import { type BackupKey, backupKeys } from "../../database/backup/sealed-file.ts";
import {
  RECEIVER,
  type ReceiverEvent,
  receiveWal,
  requireSynchronousReceiver,
} from "../../database/backup/wal-receiver.ts";
import type { DatabaseOptions } from "../../database/database.ts";
import type { ServerHistory } from "../../database/history.ts";
import { findEmbeddedAddress } from "../../database/embedded/embedded-postgres.ts";
import { readOwnKey } from "./secrets.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

const RETRY_PAUSE_MS = 1_000;
const LOOK_EVERY_MS = 60_000;

type ReceivingOptions = {
  readonly config: Pick<Config, "backupDir" | "backupKeys" | "backupSynchronous" | "dataDir" | "secretsKeys">;
  readonly logger: Pick<EventLogger, "info" | "error">;
};

export type Receiving = {
  /** Since when nothing of the log has become durable. */
  ageSeconds(): number;
  /** The folder as it was seen last. Null: it was not seen yet. */
  folder(): FolderState | null;
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
    folder: () => receiving?.folder() ?? null,
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
  const folder = watchFolder(root, keys, stopping.signal);
  const base = new MissingBase();
  const onDurable = (): void => {
    durableAtMs = Date.now();
    if (isFailing) logger.info({ event: "backup.log.received" }, "the log of the database is received again");
    isFailing = false;
  };
  const onEvent = (event: ReceiverEvent): void => {
    if (event === "slot_lost")
      logger.error({ event: "backup.slot.lost" }, "the database has removed log that SALDO_BACKUP_DIR does not have");
    if (event === "base_missing") {
      base.begin();
      logger.info({ event: "backup.base.started" }, "a base backup is taken: SALDO_BACKUP_DIR has none for this log");
    }
    if (event === "base_taken") {
      base.end();
      logger.info({ event: "backup.base.taken" }, "the base backup is taken");
      folder.look();
    }
  };
  const receiving = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const login = await findEmbeddedAddress(config);
        const secretsKey = { read: () => readOwnKey(config.dataDir), mayAppear: config.secretsKeys.length === 0 };
        const isSynchronous = config.backupSynchronous;
        const callbacks = { onDurable, onEvent, onHistory: folder.onHistory };
        await receiveWal({ login, root, keys, isSynchronous, secretsKey, ...callbacks }, stopping.signal);
      } catch (err) {
        base.fail();
        if (!isFailing) logger.error({ event: "backup.log.failed", err }, "the log of the database is not received");
        isFailing = true;
      }
      await sleep(RETRY_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {}); // it was stopped
    }
  })();
  return {
    ageSeconds: () => (Date.now() - durableAtMs) / 1_000,
    folder: () => withBase(folder.last(), base),
    async stop() {
      stopping.abort();
      await receiving;
    },
  };
}

/** Looks at the folder now and then. A disk that is away or hangs leaves the last state, whose ages go on. */
function watchFolder(root: string, keys: readonly BackupKey[], signal: AbortSignal) {
  let history: ServerHistory | null = null;
  let last: FolderState | null = null;
  let isLooking = false;
  const look = (): void => {
    if (history === null || isLooking) return;
    isLooking = true;
    void readFolderState(root, history, keys)
      .then(
        (state) => (last = state),
        () => (last = last === null ? null : { ...last, diskFreeShare: null }),
      )
      .finally(() => (isLooking = false));
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    look,
    last: () => last,
    onHistory: (now: ServerHistory): void => {
      history = now;
      look();
    },
  };
}

/** While the first base backup is taken, its age is that of its beginning, and nothing is to be verified. */
function withBase(seen: FolderState | null, base: MissingBase): FolderState | null {
  return seen === null ? null : { ...seen, baseAt: seen.baseAt ?? base.begunAt() };
}

const FOLDER_GAUGES: OptionalSeries<{ readonly seen: FolderState | null }> = {
  // Without a base backup the log is worth nothing, which no age would show.
  base_age_seconds: [
    "Age of the newest base backup from which the received log is restored; +Inf where none leads to it",
    ({ seen }) => (seen === null ? null : ageOf(seen.baseAt)),
  ],
  verified_age_seconds: [
    "Age of the last `saldo backup verify` that found nothing; of the first base backup ever where there was none",
    // Without a base backup there is nothing to verify, and its own age alarms.
    ({ seen }) => (seen === null || seen.verifiedAt === null ? null : ageOf(seen.verifiedAt)),
  ],
  disk_free_share: ["Free share of the disk of SALDO_BACKUP_DIR", ({ seen }) => seen?.diskFreeShare ?? null],
};

function ageOf(at: Date | null): number {
  return at === null ? Infinity : Math.max(0, (Date.now() - at.getTime()) / 1_000);
}

/** Adds the age of what was received, and the state of the folder once it was seen. */
export function addBackupMetric(registry: Registry, receiving: Pick<Receiving, "ageSeconds" | "folder"> | null): void {
  addGauges(registry, "saldo_backup_", FOLDER_GAUGES, () => ({ seen: receiving?.folder() ?? null }));
  const gauge: Gauge = new Gauge({
    name: "saldo_backup_log_age_seconds",
    help: "Since when nothing of the database's log has become durable in SALDO_BACKUP_DIR; 0 without that setting",
    registers: [registry],
    collect: () => gauge.set(receiving?.ageSeconds() ?? 0),
  });
}
