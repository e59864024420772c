// Sends each root to a place that the owner of the database does not control: a file that is only appended to, a mail and a
// webhook. What could not be sent is sent again; a process that dies behind the sending may send a root twice.

import { open } from "node:fs/promises";
import type { Pool } from "pg";
import type { SignedRoot } from "./seal-store.ts";

export type RootPlaces = {
  /** A path. Null: none. */
  readonly file: string | null;
  /** Null: no mail. */
  readonly mail: ((mail: { subject: string; text: string }) => Promise<void>) | null;
  /** The address that the line of each root is posted to. Null: none. */
  readonly webhook: string | null;
};

const ANSWER_WITHIN_MS = 10_000;

const UNSENT = `
SELECT r.seal, r.text, r.signatures FROM proof_root r
WHERE NOT EXISTS (SELECT FROM proof_sent s WHERE s.seal = r.seal AND s.place = $1) ORDER BY r.seal LIMIT 100`;
const SENT = `INSERT INTO proof_sent (seal, place) VALUES ($1::int, $2) ON CONFLICT (seal, place) DO NOTHING`;

/** Sends what has not been sent yet, oldest first, to each place by itself. Errors: those of the places. */
export async function sendRoots(pool: Pool, { file, mail, webhook }: RootPlaces): Promise<void> {
  const sent = await Promise.allSettled([
    file === null ? null : sendTo(pool, "file", (root) => append(file, root)),
    mail === null ? null : sendTo(pool, "mail", (root) => mail(mailOf(root))),
    webhook === null ? null : sendTo(pool, "webhook", (root) => post(webhook, root)),
  ]);
  const failures = sent.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
  if (failures.length > 0) throw new AggregateError(failures, "a root could not be sent");
}

/** The line of a root in a file, mail or call. */
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

/** The root is signed, so the call is not. A redirect would take it where the operator did not send it. */
async function post(url: string, root: SignedRoot): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: rootLine(root),
    redirect: "error",
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the webhook of roots answered with ${response.status}`);
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
