// Sending mails that rows of the database owe. A process first claims a row for a while and afterwards marks its mail as sent. A process
// that dies in between has the mail sent again by another, so a mail may arrive twice, and never more often than MAX_ATTEMPTS.

import type { Pool } from "pg";
import { createLook } from "../database/throttled-reader.ts";

/** How often a mail is tried, at most: a mail server that sends a mail and reports a failure must not send it without end. */
export const MAX_ATTEMPTS = 5;
/** How many mails a claim takes. */
export const MAILS_PER_CLAIM = 20;

/** A claim lasts for a while that doubles, by the number of former attempts; after the last attempt there is none. */
export function claimUntil(attempts: string): string {
  return `CASE WHEN ${attempts} + 1 < ${MAX_ATTEMPTS} THEN clock_timestamp() + interval '5 minutes' * 2 ^ ${attempts} END`;
}

/** Where mails are owed: the statement that claims rows, and the one that marks a mail as sent, by the id of its row. */
export type OwedMails<Owed> = {
  readonly claim: string;
  readonly sent: string;
  readonly idOf: (owed: Owed) => string;
};

/** Sends the mails that are owed. `send` throws where it could not: the mail is tried again later. */
export async function sendOwedMails<Owed extends object>(
  pool: Pool,
  { claim, sent: markSent, idOf }: OwedMails<Owed>,
  send: (owed: Owed) => Promise<void>,
  signal?: AbortSignal,
): Promise<{ sent: number; failures: readonly unknown[] }> {
  const look = createLook(pool, { share: 1, ...(signal && { signal }) });
  const failures: unknown[] = [];
  let sent = 0;
  for (;;) {
    const claimed = await look<Owed>(claim);
    for (const owed of claimed) {
      try {
        await send(owed);
        await pool.query(markSent, [idOf(owed)]);
        sent += 1;
      } catch (error) {
        failures.push(error); // reported by the caller; the row comes due again
      }
    }
    if (claimed.length < MAILS_PER_CLAIM) return { sent, failures };
  }
}
