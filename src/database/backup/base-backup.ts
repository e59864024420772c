// A base backup of a running server: its data folder as an archive, by the replication protocol. The archive is encrypted before it touches a
// disk, and compared with the server's manifest while it passes. It contains the part of the log that makes it consistent.

import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { invariant } from "../../kernel/invariant.ts";
import { packageVersion } from "../../kernel/version.ts";
import { clientConfig, type Login, withClient } from "../connections.ts";
import { readHistory } from "../history.ts";
import {
  type BackupFacts,
  type BaseBackup,
  historyFolder,
  makeFolder,
  sealedFile,
  syncFolder,
  writeSealed,
  writeSecretsKey,
} from "./backup-folder.ts";
import { writeFirstBase } from "./folder-state.ts";
import { removeLeftDrafts } from "./left-drafts.ts";
import { FilesSeen, readManifest } from "./manifest.ts";
import { connectReplication, ReplicationCommand } from "./replication-command.ts";
import { type BackupKey, SealedWriter } from "./sealed-file.ts";
import { readTar } from "./tar-reader.ts";
import { parseLsn } from "./wal-position.ts";

const COMMAND = `BASE_BACKUP (LABEL 'saldo', CHECKPOINT 'fast', WAL true, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')`;
const NOW = `SELECT clock_timestamp() AS at, pg_current_wal_insert_lsn()::text AS lsn, current_setting('server_version') AS version`;
/** How often time and position of the server are noted. `until` is at most so much too early. */
const NOTE_EVERY_MS = 200;
/** What the messages of a base backup begin with. */
const MESSAGE = { archive: "n", manifest: "m", data: "d" } as const;

export type BaseBackupOptions = {
  readonly root: string;
  readonly keys: readonly BackupKey[];
  /** The master key that a start made beside the cluster: it is backed up with it. Null: there is none. */
  readonly secretsKey: string | null;
  /** Ends it with an error. */
  readonly signal?: AbortSignal;
};

/** Takes a base backup into a new folder below `root`. Returns it, and its size. Errors: those of the server and the disk. */
export async function takeBaseBackup(
  login: Login,
  { root, keys, secretsKey, signal }: BaseBackupOptions,
): Promise<BaseBackup & { readonly bytes: number }> {
  return withClient(clientConfig(login, "saldo backup"), async (beside) => {
    const history = await readHistory(beside);
    if (history === null) throw new Error("The server is a standby. Back up the primary.");
    const folder = historyFolder(history);
    const name = `base-${new Date().toISOString().replace(/[-:.]/g, "")}`;
    const draft = join(root, folder, `${name}.draft`);
    await makeFolder(join(root, folder));
    await removeLeftDrafts(root);
    await makeFolder(draft);
    try {
      const file = (part: string) => ({ ...sealedFile(root, folder, name, part), path: sealedFile(draft, part).path });
      const moments = noteMoments(beside);
      const { bytes, manifest, startLsn, endLsn } = await receive(login, file("base.tar"), { keys, signal }).finally(
        moments.stop,
      );
      await writeSealed(file("manifest"), keys, manifest);
      if (secretsKey !== null) await writeSealed(file("secrets-key"), keys, Buffer.from(secretsKey));
      const { until, endedAt, postgres } = await moments.around(endLsn);
      const facts: BackupFacts = {
        format: 1,
        saldo: packageVersion(),
        postgres,
        ...history,
        startLsn,
        endLsn,
        until,
        endedAt,
      };
      await writeSealed(file("about"), keys, Buffer.from(JSON.stringify(facts)));
      await syncFolder(draft);
      // Beside the log there may be one of before, or none.
      if (secretsKey !== null) await writeSecretsKey(root, history, { keys, key: secretsKey });
      const path = join(root, folder, name);
      await rename(draft, path);
      await syncFolder(join(root, folder));
      await writeFirstBase(root, keys, new Date(until));
      return { facts, path, name: `${folder}/${name}`, bytes };
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  });
}

/** Receives the archive into an encrypted file, and checks it against its manifest. */
async function receive(
  login: Login,
  file: { path: string; name: string },
  { keys, signal }: { keys: readonly BackupKey[]; signal: AbortSignal | undefined },
) {
  const client = await connectReplication(login, "saldo backup");
  const writer = await SealedWriter.create(file.path, file.name, keys);
  try {
    signal?.throwIfAborted();
    const command = ReplicationCommand.send(client, COMMAND);
    const abandon = (): void => command.abandon();
    signal?.addEventListener("abort", abandon, { once: true });
    const manifest: Buffer[] = [];
    const files = new FilesSeen();
    const archive = archiveIn(command.messages as AsyncIterable<Buffer>, manifest);
    for await (const part of readTar(writing(archive, writer))) files.note(part);
    const whole = Buffer.concat(manifest);
    files.requireAllOf(readManifest(whole));
    const rows = await command.rows;
    const [startLsn, endLsn] = [rows[0]?.[0], rows.at(-1)?.[0]];
    invariant(startLsn != null && endLsn != null, "a base backup begins and ends in the log");
    await writer.end();
    return { bytes: writer.bytes + whole.length, manifest: whole, startLsn, endLsn };
  } catch (error) {
    await writer.abandon();
    throw error;
  } finally {
    await client.end().catch(() => {}); // the backup is whole, or has failed with its own error
  }
}

/** The bytes of the one archive. Those of the manifest behind it are collected. */
async function* archiveIn(messages: AsyncIterable<Buffer>, manifest: Buffer[]): AsyncGenerator<Buffer> {
  let archives = 0;
  let isManifest = false;
  for await (const message of messages) {
    const kind = String.fromCodePoint(message[0] ?? 0);
    if (kind === MESSAGE.archive) archives += 1;
    if (kind === MESSAGE.manifest) isManifest = true;
    if (archives > 1) throw new Error("The cluster has tablespaces, which saldo backup does not back up.");
    if (kind !== MESSAGE.data) continue;
    const bytes = message.subarray(1);
    if (isManifest) manifest.push(bytes);
    else yield bytes;
  }
}

async function* writing(chunks: AsyncIterable<Buffer>, writer: SealedWriter): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    await writer.write(chunk);
    yield chunk;
  }
}

type Moment = { readonly at: Date; readonly lsn: string; readonly version: string };

/** Notes which position the log has at which time, so that the end of the backup has a time. */
function noteMoments(client: Client) {
  const stopped = new AbortController();
  const moments: Moment[] = [];
  const note = async (): Promise<void> => {
    const { rows } = await client.query<Moment>(NOW);
    moments.push(...rows);
  };
  const noting = (async () => {
    while (!stopped.signal.aborted) {
      await note();
      await sleep(NOTE_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => {}); // it was stopped
    }
  })();
  noting.catch(() => {}); // `around` has the error
  return {
    stop: () => stopped.abort(),
    /** The last moment before a position, and the present one. */
    async around(lsn: string): Promise<{ until: string; endedAt: string; postgres: string }> {
      await noting;
      await note();
      const before = moments.findLast((moment) => parseLsn(moment.lsn) <= parseLsn(lsn));
      const now = moments.at(-1);
      invariant(before !== undefined && now !== undefined, "a backup ends behind its beginning");
      return { until: before.at.toISOString(), endedAt: now.at.toISOString(), postgres: now.version };
    },
  };
}
