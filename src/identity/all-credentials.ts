// Ends all sessions, links and invites of the service at once.

import type { PoolClient } from "pg";
import { entitiesOn } from "../database/orm.ts";

/** Ends every session, and makes the links in mails useless. Returns how many sessions there were. */
export async function endAllSessions(client: PoolClient): Promise<number> {
  const { em, Session, Verification } = await entitiesOn(client);
  await em.nativeDelete(Verification, {});
  return em.nativeDelete(Session, {});
}

/** Makes every link useless that makes an operator. */
export async function forgetInvites(client: PoolClient): Promise<void> {
  const { em, OperatorInvite, raw } = await entitiesOn(client);
  await em.nativeUpdate(OperatorInvite, { usedAt: null }, { usedAt: raw("clock_timestamp()") });
}
