// The user that runs the embedded server. PostgreSQL refuses to run as root, so root gives it a user id that no other program has:
// a program with the server's id owns its files.

import { createHash } from "node:crypto";
import { lchown, lstat, mkdir, readFile, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const ROOT = 0;
/** The accounts for initdb where we are root; the first one that the machine has is used, because initdb needs a name. */
const UNPRIVILEGED = ["postgres", "nobody"];
/** User ids that systemd gives to services for the time that they run; no account of a person or a package has one. */
const OWN_IDS = { first: 61_184, count: 4_336 } as const;

type Identity = { readonly uid?: number; readonly gid?: number };

/** The account of the server; `identity` is empty when it is the one this process runs as. */
export type ServerAccount = {
  readonly identity: Identity;
  /** The account that makes the cluster, before it is given to the server's account. */
  readonly maker: Identity;
};

/**
 * Chooses the account: our own; or for root the one that has the folder already, or a user id of its own. Where this machine does not
 * have such ids, as in a container with few of them, the maker's account runs the server as well.
 */
export async function chooseServerAccount(clusterDir: string): Promise<ServerAccount> {
  if (process.getuid?.() !== ROOT) return { identity: {}, maker: {} };
  const existing = await stat(clusterDir).catch(() => undefined);
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const maker = findMaker(accounts);
  if (existing !== undefined && existing.uid !== ROOT) {
    return { identity: { uid: existing.uid, gid: existing.gid }, maker };
  }
  const own = await findOwnId(clusterDir, new Set(accounts.map(([, , uid]) => Number(uid))));
  return { identity: own === null ? maker : { uid: own, gid: own }, maker };
}

function findMaker(accounts: readonly (readonly string[])[]): Identity {
  for (const wanted of UNPRIVILEGED) {
    const [, , uid, gid] = accounts.find(([name]) => name === wanted) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    `PostgreSQL does not run as root, and this machine has no account named ${UNPRIVILEGED.join(" or ")}. ` +
      `Run Saldo as another user, or set DATABASE_URL.`,
  );
}

/** The same id for the same folder, in every process. Null: this machine has none. */
async function findOwnId(clusterDir: string, taken: ReadonlySet<number>): Promise<number | null> {
  const { first, count } = OWN_IDS;
  if (process.platform !== "linux" || !(await hasIdsUpTo(first + count))) return null;
  const start = createHash("sha256").update(clusterDir).digest().readUInt32BE(0);
  for (let step = 0; step < count; step += 1) {
    const id = first + ((start + step) % count);
    if (!taken.has(id)) return id;
  }
  return null;
}

/** Whether user and group ids from 0 up to this one exist here: a container may have fewer. */
async function hasIdsUpTo(id: number): Promise<boolean> {
  const maps = await Promise.all(["uid_map", "gid_map"].map((name) => readFile(`/proc/self/${name}`, "utf8")));
  return maps.every((map) =>
    map.split("\n").some((line) => {
      const [inside, , length] = line.trim().split(/\s+/).map(Number);
      return inside === 0 && length !== undefined && length >= id;
    }),
  );
}

/** Makes a folder of the server's, open to its account only. */
export async function makePrivateFolder(path: string, account: ServerAccount): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await giveTo(path, account);
}

/** Gives a file or folder to the server's account. */
export async function giveTo(path: string, { identity }: Pick<ServerAccount, "identity">): Promise<void> {
  if (identity.uid === undefined || identity.gid === undefined) return;
  await lchown(path, identity.uid, identity.gid);
}

/** Gives a folder with everything in it to the server's account, unless it has it already. */
export async function giveTreeTo(path: string, account: ServerAccount): Promise<void> {
  if (account.identity.uid === undefined || (await lstat(path)).uid === account.identity.uid) return;
  const entries = await readdir(path, { recursive: true });
  for (const entry of entries) await giveTo(join(path, entry), account);
  await giveTo(path, account);
}

/** The first folder on the way that the account may not pass, if there is one. */
export async function closedFolderOnTheWay(path: string, { identity }: ServerAccount): Promise<string | undefined> {
  if (identity.uid === undefined) return undefined;
  const parents: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    parents.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  for (const folder of parents) {
    const { mode, uid, gid } = await stat(folder);
    const shift = uid === identity.uid ? 6 : gid === identity.gid ? 3 : 0;
    if (((mode >> shift) & 1) === 0) return folder;
  }
  return undefined;
}
