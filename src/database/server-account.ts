// Who runs the embedded server. PostgreSQL refuses to run as root, so root hands it to an account without rights.

import { lchown, lstat, mkdir, readFile, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const ROOT = 0;
/** Accounts that root hands the server to, the first one that the machine knows. */
const UNPRIVILEGED = ["postgres", "nobody"];

/** The account of the server; `identity` is empty when it is the one this process runs as. */
export type ServerAccount = { readonly identity: { readonly uid?: number; readonly gid?: number } };

/** Chooses the account: ourselves, or for root whoever has the folder already, or an unprivileged account. */
export async function chooseServerAccount(clusterDir: string): Promise<ServerAccount> {
  if (process.getuid?.() !== ROOT) return { identity: {} };
  const existing = await stat(clusterDir).catch(() => undefined);
  if (existing !== undefined && existing.uid !== ROOT) return { identity: { uid: existing.uid, gid: existing.gid } };
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  for (const wanted of UNPRIVILEGED) {
    const [, , uid, gid] = accounts.find(([name]) => name === wanted) ?? [];
    if (uid !== undefined && gid !== undefined) return { identity: { uid: Number(uid), gid: Number(gid) } };
  }
  throw new Error(
    `PostgreSQL does not run as root, and this machine has no account named ${UNPRIVILEGED.join(" or ")}. ` +
      `Run Saldo as another user, or set DATABASE_URL.`,
  );
}

/** Makes a folder of the server's, open to its account only. */
export async function makePrivateFolder(path: string, account: ServerAccount): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await giveTo(path, account);
}

/** Gives a file or folder to the server's account. */
export async function giveTo(path: string, { identity }: ServerAccount): Promise<void> {
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
