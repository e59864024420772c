// Sends each root to a place that the owner of the database does not control: a file that is only appended to, and a mail. What could
// not be sent is sent again; a process that dies behind the sending may send a root twice.

import { open } from "node:fs/promises";
import type { Pool } from "pg";
import type { SignedRoot } from "./seal-store.ts";

export type RootPlaces = {
  /** A path. Null: none. */
  readonly file: string | null;
  /** Null: no mail. */
  readonly mail: ((mail: { subject: string; text: string }) => Promise<void>) | null;
};

const UNSENT = `
SELECT r.seal, r.text, r.signatures FROM proof_root r
WHERE NOT EXISTS (SELECT FROM proof_sent s WHERE s.seal = r.seal AND s.place = $1) ORDER BY r.seal LIMIT 100`;
const SENT = `INSERT INTO proof_sent (seal, place) VALUES ($1::int, $2) ON CONFLICT (seal, place) DO NOTHING`;

/** Sends what has not been sent yet, oldest first, to each place by itself. Errors: those of the places. */
export async function sendRoots(pool: Pool, { file, mail }: RootPlaces): Promise<void> {
  const sent = await Promise.allSettled([
    file === null ? null : sendTo(pool, "file", (root) => append(file, root)),
    mail === null ? null : sendTo(pool, "mail", (root) => mail(mailOf(root))),
  ]);
  const failures = sent.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
  if (failures.length > 0) throw new AggregateError(failures, "a root could not be sent");
}

/** The line of a root in a file or mail. */
function rootLine({ text, signatures }: SignedRoot): string {
  return JSON.stringify({ text, signatures });
}

/** The root's text in such a line; nothing in another one. */
export function readRoot(line: string): string[] {
  try {
    const { text } = JSON.parse(line) as { text?: unknown };
    return typeof text === "string" ? [text] : [];
  } catch {
    return [];
  }
}

async function sendTo(pool: Pool, place: string, send: (root: SignedRoot) => Promise<void>): Promise<void> {
  for (const root of (await pool.query<SignedRoot>(UNSENT, [place])).rows) {
    await send(root);
    await pool.query(SENT, [root.seal, place]);
  }
}

async function append(path: string, root: SignedRoot): Promise<void> {
  await using file = await open(path, "a", 0o644);
  await file.appendFile(`${rootLine(root)}\n`);
  await file.sync();
}

function mailOf(root: SignedRoot): { subject: string; text: string } {
  const { day, root: hash } = JSON.parse(root.text) as { day: string; root: string };
  return {
    subject: `Saldo: root of the books of ${day}`,
    text: [
      `The books up to ${day} have the root ${hash}.`,
      "Keep this mail: with the line below `saldo verify --root FILE` shows that a statement is of these books.",
      "",
      rootLine(root),
    ].join("\n"),
  };
}
