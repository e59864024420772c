// Sending mails that rows of the database owe. A process first claims a row for a while and afterwards marks its mail as sent. A process
// that dies in between has the mail sent again by another, so a mail may arrive twice. A mail that its server may have taken without an answer
// is tried a few times more; one that was not taken for certain, for three days.

import type { Pool } from "pg";
import { createLook } from "../database/throttled-reader.ts";

/** How often a mail is tried, at most: with the pauses of `claimUntil`, for three days. */
export const MAX_ATTEMPTS = 19;
/** How many tries one counts for that may have sent the mail: a server that sends and fails to answer does so five times at most. */
const UNSURE_COUNTS = 4;
/** How many mails a claim takes. */
export const MAILS_PER_CLAIM = 20;
/** How long mails of a claim are sent: less than its five minutes, behind which another process sends them. */
const SENT_WITHIN_MS = 240_000;

/** A claim lasts for a while that doubles up to six hours, by the number of former attempts; after the last attempt there is none. */
export function claimUntil(attempts: string): string {
  return `CASE WHEN ${attempts} + 1 < ${MAX_ATTEMPTS}
    THEN clock_timestamp() + least(interval '6 hours', interval '5 minutes' * 2 ^ least(${attempts}, 10)) END`;
}

/** What a row is set to whose try may have sent the mail: its counter of attempts, and the moment of the next one. */
export function countUnsure(attempts: string, next: string): string {
  const counted = `${attempts} + ${UNSURE_COUNTS - 1}`;
  return `${attempts} = ${counted}, ${next} = CASE WHEN ${counted} < ${MAX_ATTEMPTS} THEN ${next} END`;
}

/** Where mails are owed: the statement that claims rows, and those that mark a mail as sent or perhaps sent, with values that name it. */
export type OwedMails<Owed> = {
  readonly claim: string;
  readonly sent: string;
  readonly unsure: string;
  readonly valuesOf: (owed: Owed) => readonly unknown[];
};

/**
 * Sends a mail to its readers. False: it has stopped because `mayGoOn` gave false, and a later claim sends the rest. Errors: it could not be
 * sent, and is tried again later.
 */
export type SendOwed<Owed> = (owed: Owed, mayGoOn: () => boolean) => Promise<boolean>;

/** Sends the mails that are owed. */
export async function sendOwedMails<Owed extends object>(
  pool: Pool,
  { claim, sent: markSent, unsure, valuesOf }: OwedMails<Owed>,
  send: SendOwed<Owed>,
  signal?: AbortSignal,
): Promise<{ sent: number; failures: readonly unknown[] }> {
  const look = createLook(pool, { share: 1, ...(signal && { signal }) });
  const failures: unknown[] = [];
  let sent = 0;
  for (;;) {
    const until = performance.now() + SENT_WITHIN_MS;
    const mayGoOn = (): boolean => signal?.aborted !== true && performance.now() < until;
    const claimed = await look<Owed>(claim);
    for (const owed of claimed) {
      if (!mayGoOn()) return { sent, failures };
      try {
        if (!(await send(owed, mayGoOn))) return { sent, failures };
        await pool.query(markSent, [...valuesOf(owed)]);
        sent += 1;
      } catch (error) {
        failures.push(error); // reported by the caller; the row comes due again
        if (mayHaveSent(error)) await pool.query(unsure, [...valuesOf(owed)]);
      }
    }
    if (claimed.length < MAILS_PER_CLAIM) return { sent, failures };
  }
}

/** Codes of `nodemailer` and of sockets. */
const LOST_CONNECTION: ReadonlySet<unknown> = new Set(["ETIMEDOUT", "ECONNECTION", "ESOCKET", "ECONNRESET", "EPIPE"]);
const NEVER_CONNECTED = /^Connection timeout|^Greeting never received/;

/** Whether the mail server may have taken the mail: the connection was made, and ended without its answer. */
function mayHaveSent(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(mayHaveSent);
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return false;
  const { code, syscall, responseCode } = cause as { code?: unknown; syscall?: unknown; responseCode?: unknown };
  if (typeof responseCode === "number" || syscall === "connect" || syscall === "getaddrinfo") return false;
  return LOST_CONNECTION.has(code) && !NEVER_CONNECTED.test(cause.message);
}
