// Ends all sessions, links and invites of the service at once.

import type { PoolClient } from "pg";

const END_SESSIONS = `DELETE FROM auth.session`;
const FORGET_LINKS = `DELETE FROM auth.verification`;
const SPEND_INVITES = `UPDATE auth.operator_invite SET used_at = clock_timestamp() WHERE used_at IS NULL`;

/** Ends every session, and makes the links in mails useless. Returns how many sessions there were. */
export async function endAllSessions(client: PoolClient): Promise<number> {
  await client.query(FORGET_LINKS);
  return (await client.query(END_SESSIONS)).rowCount ?? 0;
}

/** Makes every link useless that makes an operator. */
export async function forgetInvites(client: PoolClient): Promise<void> {
  await client.query(SPEND_INVITES);
}
