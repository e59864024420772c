// Another token for a session that has just shown a proof: a holder of the former token has not shown it.

import { createHmac, randomBytes } from "node:crypto";
import type { Database } from "../database/database.ts";
import { withTransaction } from "../database/transactions.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { digestSecretToken } from "../kernel/secret-token.ts";
import { endSessionSoon } from "./second-factor/second-factor-store.ts";
import { type CookiePlan, readCookie } from "./session-cookie.ts";

const TOKEN_BYTES = 24;

const COPY = `
INSERT INTO auth.session (id, token_digest, user_id, expires_at, ip_address, user_agent, created_at, updated_at,
  proved_at, factor_proved, by_demo, seen_at, acts_for)
SELECT $2::uuid, $3::bytea, user_id, expires_at, ip_address, user_agent, created_at, clock_timestamp(),
  proved_at, factor_proved, by_demo, seen_at, acts_for
FROM auth.session WHERE id = $1::uuid
RETURNING ceil(extract(epoch FROM expires_at - clock_timestamp()))::int AS seconds`;
// What is under way with the former token still ends, but no order begins by it.
const TAKE_PROOF_BACK = `UPDATE auth.session SET proved_at = NULL WHERE id = $1::uuid`;

export type Renewal = {
  readonly sessionId: string;
  /** The Cookie header that came with the request. */
  readonly cookies: string;
  readonly plan: CookiePlan;
  /** What cookies are signed with. */
  readonly secret: string;
};

/** Puts a session under another token and gives its Set-Cookie line. Null: the session was replaced already. */
export async function renewSession(
  database: Pick<Database, "pool">,
  { sessionId, cookies, plan, secret }: Renewal,
): Promise<string | null> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const livesSeconds = await withTransaction(database, async (client) => {
    const values = [sessionId, uuidv7(), digestSecretToken(token)];
    const { rows } = await client.query<{ seconds: number }>(COPY, values);
    const [copied] = rows;
    if (copied === undefined) return null;
    await client.query(TAKE_PROOF_BACK, [sessionId]);
    await endSessionSoon(client, sessionId);
    return copied.seconds;
  });
  if (livesSeconds === null) return null;
  // As better-auth writes it. A session that ends with the browser goes on doing so.
  const signed = `${token}.${createHmac("sha256", secret).update(token).digest("base64")}`;
  const isBrief = readCookie(cookies, `${plan.sessionName}_brief`) !== null;
  const life = isBrief ? "" : ` Max-Age=${livesSeconds};`;
  const secure = plan.isSecure ? "; Secure" : "";
  return `${plan.sessionName}=${encodeURIComponent(signed)};${life} Path=/; HttpOnly; SameSite=Lax${secure}`;
}
