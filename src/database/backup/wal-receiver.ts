// Receives the log of a running server as it is written, encrypted before it touches a disk. What is confirmed to the server is durable
// here. A slot keeps the server from removing what was not received yet. By its name the receiver can be the synchronous standby of its
// server: then nothing is acknowledged before it is durable here. Otherwise a lost machine loses what was not sent yet.

import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Client, Pool } from "pg";
import { sqlState } from "../transactions.ts";
import type { Login } from "../connections.ts";
import type { ServerHistory as History } from "../history.ts";
import {
  historyFolder,
  makeFolder,
  type SealedFile,
  sealedFile,
  syncFolder,
  writeHistory,
  writeSecretsKey,
} from "./backup-folder.ts";
import { takeBaseBackup } from "./base-backup.ts";
import { connectReplication, ReplicationCommand } from "./replication-command.ts";
import { hasBaseFor } from "./restore-plan.ts";
import { type BackupKey, SealedWriter } from "./sealed-file.ts";
import {
  formatLsn,
  isSegment,
  parseLsn,
  SEGMENT_BYTES,
  segmentName,
  segmentStart,
  startOfSegment,
} from "./wal-position.ts";

/** The name of the slot, and of the receiver in `pg_stat_replication`. */
export const RECEIVER = "saldo_backup";
const DUPLICATE_OBJECT = "42710";
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);
const STATUS_BYTES = 34;
/** A key that is there changes by the hand of an operator only. */
const LOOK_FOR_KEY_MS = 1_000;
/** Before the data of a message: its kind, where it begins, where the log ends, and the time. */
const DATA_AT = 25;
const MESSAGE = { data: 0x77, alive: 0x6b } as const;

export type ReceiverEvent = "slot_lost" | "base_missing" | "base_taken";

export type WalReceiverOptions = {
  readonly login: Login;
  readonly root: string;
  readonly keys: readonly BackupKey[];
  /** Whether commits wait for the receiver. It confirms none that could not be restored, so it begins behind a missing base backup. */
  readonly isSynchronous?: boolean;
  /** The master key beside the cluster, which is stored beside the log; null while there is none. It may appear where no setting has one. */
  readonly secretsKey?: { readonly read: () => Promise<string | null>; readonly mayAppear: boolean };
  /** Called where the server has dropped log that was not received, and before and after a base backup that the folder lacks. */
  readonly onEvent?: (event: ReceiverEvent) => void;
  /** Called with the history whose log is received, each time before it begins. */
  readonly onHistory?: (history: History) => void;
  /** Called when everything up to a position is durable. */
  readonly onDurable?: (lsn: bigint) => void;
};

/** Receives until the connection ends or the signal is aborted. Errors: those of the server, the connection and the disk. */
export async function receiveWal(options: WalReceiverOptions, signal: AbortSignal): Promise<void> {
  const client = await connectReplication(options.login, RECEIVER);
  const end = (): void => void client.end().catch(() => {}); // the stream ends with it
  signal.addEventListener("abort", end);
  try {
    const { history, position } = await identify(client);
    options.onHistory?.(history);
    const folder = await prepareFolder(client, options, history);
    const kept = (await keepLog(client, options)) ?? position;
    const from = await whereToBegin(folder, history.timeline, kept);
    const base = takeMissingBase(options, { history, from, signal }).catch((error: unknown) => {
      end();
      throw error;
    });
    base.catch(() => {}); // it is awaited when the stream has ended
    if (options.isSynchronous === true) await base;
    const start = `START_REPLICATION SLOT ${RECEIVER} PHYSICAL ${formatLsn(from)} TIMELINE ${history.timeline}`;
    const command = ReplicationCommand.send(client, start);
    const segments = new SegmentFiles({ root: options.root, keys: options.keys, history, at: from });
    const storeKey = keyKeeper(options, history);
    try {
      await receive(command, segments, { storeKey, onDurable: options.onDurable ?? (() => {}) });
    } finally {
      await segments.close();
      await base;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

async function identify(client: Client): Promise<{ history: History; position: bigint }> {
  const { rows } = await client.query<{ systemid: string; timeline: bigint | number; xlogpos: string }>(
    "IDENTIFY_SYSTEM",
  );
  const [{ systemid, timeline, xlogpos } = { systemid: "", timeline: 0, xlogpos: "0/0" }] = rows;
  const { rows: sizes } = await client.query<{ wal_segment_size: string }>("SHOW wal_segment_size");
  const size = sizes[0]?.wal_segment_size ?? "";
  if (size !== "16MB") throw new Error(`The server's wal_segment_size is ${size}; Saldo receives segments of 16MB.`);
  return { history: { system: systemid, timeline: Number(timeline) }, position: parseLsn(xlogpos) };
}

/** Makes the folder of the log, with the history of its timeline beside it. */
async function prepareFolder(client: Client, { root, keys }: WalReceiverOptions, history: History): Promise<string> {
  const folder = join(root, historyFolder(history));
  await makeFolder(folder);
  await makeFolder(join(folder, "wal"));
  if (history.timeline > 1) {
    const read = async (): Promise<Buffer> => {
      const { rows } = await client.query<{ content: string | Buffer }>(`TIMELINE_HISTORY ${history.timeline}`);
      const { content = "" } = rows[0] ?? {};
      return Buffer.from(content as string);
    };
    await writeHistory(root, history, { keys, read });
  }
  return join(folder, "wal");
}

/** Makes the slot, again where the server has dropped what it kept. Gives from where on the log is there. */
async function keepLog(client: Client, { onEvent }: WalReceiverOptions): Promise<bigint | null> {
  await createSlot(client);
  const position = await slotPosition(client);
  if (position !== null) return position;
  // A slot that keeps nothing was too far behind (`max_slot_wal_keep_size`), and stays so.
  onEvent?.("slot_lost");
  await client.query(`DROP_REPLICATION_SLOT ${RECEIVER}`);
  await createSlot(client);
  return slotPosition(client);
}

async function createSlot(client: Client): Promise<void> {
  await client.query(`CREATE_REPLICATION_SLOT ${RECEIVER} PHYSICAL (RESERVE_WAL)`).catch((error: unknown) => {
    if (sqlState(error) !== DUPLICATE_OBJECT) throw error;
  });
}

async function slotPosition(client: Client): Promise<bigint | null> {
  const { rows } = await client.query<{ restart_lsn: string | null }>(`READ_REPLICATION_SLOT ${RECEIVER}`);
  const position = rows[0]?.restart_lsn ?? null;
  return position === null ? null : parseLsn(position);
}

/** Takes a base backup where no other leads to the log that is received now: without one the log could not be restored. */
async function takeMissingBase(
  { login, root, keys, secretsKey, onEvent }: WalReceiverOptions,
  { history, from, signal }: { history: History; from: bigint; signal: AbortSignal },
): Promise<void> {
  if (await hasBaseFor({ root, keys, history, from })) return;
  onEvent?.("base_missing");
  await takeBaseBackup(login, { root, keys, secretsKey: (await secretsKey?.read()) ?? null, signal });
  onEvent?.("base_taken");
}

/** Behind the last complete segment, or where the server's log begins. A segment that was begun is received again, beside what there is. */
async function whereToBegin(folder: string, timeline: number, kept: bigint): Promise<bigint> {
  const names = (await readdir(folder)).map((name) => name.replace(/\.sealed$/, ""));
  const last = names
    .filter((name) => isSegment(name) && Number.parseInt(name.slice(0, 8), 16) === timeline)
    .toSorted()
    .at(-1);
  const next = last === undefined ? 0n : startOfSegment(last) + BigInt(SEGMENT_BYTES);
  return next > segmentStart(kept) ? next : segmentStart(kept);
}

/** Errors: commits of this server do not wait for the receiver. */
export async function requireSynchronousReceiver(pool: Pick<Pool, "query">): Promise<void> {
  const { rows } = await pool.query<{ synchronous_standby_names: string }>("SHOW synchronous_standby_names");
  if (rows[0]?.synchronous_standby_names === RECEIVER) return;
  throw new Error(
    "The embedded database was started by another program, and its commits do not wait for SALDO_BACKUP_DIR. " +
      "Start again when no other program uses it.",
  );
}

/** Stores the master key whenever it has changed. Where one may appear, each confirmed piece of the log looks for it. */
function keyKeeper({ root, keys, secretsKey }: WalReceiverOptions, history: History) {
  let [stored, lookedAtMs]: [string | null, number] = [null, Number.NEGATIVE_INFINITY];
  return async (): Promise<void> => {
    const isAwaited = stored === null && secretsKey?.mayAppear === true;
    if (secretsKey === undefined || (!isAwaited && performance.now() - lookedAtMs < LOOK_FOR_KEY_MS)) return;
    lookedAtMs = performance.now();
    const key = await secretsKey.read();
    if (key === null || key === stored) return;
    await writeSecretsKey(root, history, { keys, key });
    stored = key;
  };
}

type Receiver = { readonly storeKey: () => Promise<void>; readonly onDurable: (lsn: bigint) => void };

async function receive(command: ReplicationCommand, segments: SegmentFiles, { storeKey, onDurable }: Receiver) {
  const { messages } = command;
  for await (const message of messages as AsyncIterable<Buffer>) {
    let mustAnswer = await take(message, segments);
    // What has arrived meanwhile becomes durable together.
    while (messages.readableLength > 0) mustAnswer = (await take(messages.read() as Buffer, segments)) || mustAnswer;
    const before = segments.durable;
    // What is encrypted under the key is confirmed behind it.
    await storeKey();
    await segments.flush();
    if (segments.durable > before) onDurable(segments.durable);
    if (segments.durable > before || mustAnswer) command.reply(statusOf(segments.durable));
  }
}

/** Takes a message. True: the server asks for an answer. */
async function take(message: Buffer, segments: SegmentFiles): Promise<boolean> {
  if (message[0] === MESSAGE.data) await segments.write(message.readBigUInt64BE(1), message.subarray(DATA_AT));
  return message[0] === MESSAGE.alive && message.at(-1) === 1;
}

function statusOf(durable: bigint): Buffer {
  const status = Buffer.alloc(STATUS_BYTES);
  status.write("r");
  for (const at of [1, 9, 17]) status.writeBigUInt64BE(durable, at); // written, flushed, applied
  status.writeBigInt64BE(BigInt(Date.now() - POSTGRES_EPOCH_MS) * 1_000n, 25);
  return status;
}

/** The files of the segments: the one that is received, and those that are complete. */
class SegmentFiles {
  readonly #root: string;
  readonly #keys: readonly BackupKey[];
  readonly #history: History;
  #at: bigint;
  #durable: bigint;
  #writer: SealedWriter | null = null;

  constructor({ root, keys, history, at }: { root: string; keys: readonly BackupKey[]; history: History; at: bigint }) {
    this.#root = root;
    this.#keys = keys;
    this.#history = history;
    this.#at = at;
    this.#durable = at;
  }

  /** Up to where the log is durable. */
  get durable(): bigint {
    return this.#durable;
  }

  async write(from: bigint, bytes: Buffer): Promise<void> {
    if (from !== this.#at) throw new Error(`the log continues at ${formatLsn(from)}, not at ${formatLsn(this.#at)}`);
    for (let rest = bytes; rest.length > 0;) {
      const room = SEGMENT_BYTES - Number(this.#at % BigInt(SEGMENT_BYTES));
      const piece = rest.subarray(0, room);
      this.#writer ??= await this.#begin();
      await this.#writer.write(piece);
      this.#at += BigInt(piece.length);
      rest = rest.subarray(piece.length);
      if (piece.length === room) await this.#complete(this.#writer);
    }
  }

  async flush(): Promise<void> {
    await this.#writer?.flush();
    this.#durable = this.#at;
  }

  async close(): Promise<void> {
    await this.#writer?.abandon();
    this.#writer = null;
  }

  /** What was received of the segment before remains until this time as much has come. */
  async #begin(): Promise<SealedWriter> {
    const open = this.#file("open");
    const before = this.#file("before");
    const begun = await sizeOf(open.path);
    const kept = await sizeOf(before.path);
    if (begun !== null && (kept ?? -1) < begun) await rename(open.path, before.path);
    await rm(open.path, { force: true });
    const writer = await SealedWriter.create(open.path, open.name, this.#keys);
    await syncFolder(join(open.path, ".."));
    return writer;
  }

  async #complete(writer: SealedWriter): Promise<void> {
    this.#writer = null;
    await writer.end();
    const [open, before] = [this.#file("open", this.#at - 1n), this.#file("before", this.#at - 1n)];
    await rename(
      open.path,
      sealedFile(this.#root, historyFolder(this.#history), "wal", this.#segment(this.#at - 1n)).path,
    );
    await rm(before.path, { force: true });
    await syncFolder(join(open.path, ".."));
  }

  #segment(lsn: bigint): string {
    return segmentName(this.#history.timeline, lsn);
  }

  /** All files of a segment are encrypted for its name alone, so that they can be renamed. */
  #file(state: "open" | "before", lsn = this.#at): SealedFile {
    const folder = historyFolder(this.#history);
    const segment = this.#segment(lsn);
    return {
      ...sealedFile(this.#root, folder, "wal", segment),
      path: sealedFile(this.#root, folder, "wal", `${segment}.${state}`).path,
    };
  }
}

async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}
