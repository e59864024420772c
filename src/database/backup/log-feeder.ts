// Hands segments of the log to a server that recovers. PostgreSQL asks for each by its restore_command, which runs as the account of the
// server: it has neither our key nor our program. So the command leaves the name in a folder that it shares with us, and waits until we have
// decrypted that segment there, or have none.

import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { giveTo, type ServerAccount } from "../embedded/server-account.ts";
import { errorCode } from "../system-error.ts";
import type { BackupKey } from "./sealed-file.ts";
import { readLongest, type Segments } from "./timelines.ts";
import { SEGMENT_BYTES } from "./wal-position.ts";

/** The shared folder, below that of the cluster, in which the command runs. */
const SHARED = "saldo_restore";
const LOOK_EVERY_MS = 10;
/** The command gives up when it has waited for a minute: the restore was killed. */
const MOST_WAITS = 3_000;

/** The restore_command. It ends with an error where there is no such file, which PostgreSQL expects at the end of the log. */
export const RESTORE_COMMAND = [
  `cd ${SHARED} && echo %f > asking && mv asking asked && n=0`,
  `while [ -e asked ] && [ $n -lt ${MOST_WAITS} ]; do sleep 0.02; n=$((n+1)); done`,
  `mv %f "../%p"`,
].join("; ");

export type LogFeeder = {
  /** Ends when the server has ended, or has recovered. Errors: BackupUnreadable, of a segment that was asked for. */
  stop(): Promise<void>;
};

/** What PostgreSQL may ask for, by the names that it has for them. Of the files of a segment the longest is taken. */
export type LogFiles = { readonly segments: Segments; readonly histories: ReadonlyMap<string, Buffer> };

/** Answers the command until stopped. */
export async function startLogFeeder(
  cluster: { readonly dir: string; readonly account: ServerAccount },
  { segments, histories, keys }: LogFiles & { keys: readonly BackupKey[] },
): Promise<LogFeeder> {
  const shared = join(cluster.dir, SHARED);
  await mkdir(shared, { mode: 0o700 });
  await giveTo(shared, cluster.account);
  const stopped = new AbortController();
  let failure: unknown;
  const answering = (async () => {
    while (!stopped.signal.aborted) {
      const name = await askedFor(shared);
      if (name === null) {
        await sleep(LOOK_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => {}); // it was stopped
        continue;
      }
      try {
        const files = segments.get(name);
        const bytes = files === undefined ? histories.get(name) : filledUp(await readLongest(files, keys));
        if (bytes !== undefined) await handOver(shared, name, bytes, cluster.account);
      } catch (error) {
        // The server sees the end of the log; what is wrong is reported when it has stopped there.
        failure ??= error;
      }
      await rm(join(shared, "asked"), { force: true });
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await answering;
      await rm(shared, { recursive: true, force: true });
      if (failure !== undefined) throw failure;
    },
  };
}

async function askedFor(shared: string): Promise<string | null> {
  const text = await readFile(join(shared, "asked"), "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  });
  return text.trim() || null;
}

/** A whole segment, or what was received of it with zeros behind: there the log ends. */
function filledUp(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(SEGMENT_BYTES - bytes.length)]);
}

async function handOver(shared: string, name: string, bytes: Buffer, account: ServerAccount): Promise<void> {
  const draft = join(shared, `${name}.draft`);
  await writeFile(draft, bytes, { mode: 0o600 });
  await giveTo(draft, account);
  await rename(draft, join(shared, name));
}
