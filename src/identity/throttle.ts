// How often something may be tried. A bucket is one row with the time up to which it is booked: each try books one interval more,
// and is refused once the booking is further ahead than the burst allows. Every node decides by the same row and clock.

import type { Pool } from "pg";

/** So many at once, then one per interval. */
export type Pace = { readonly burst: number; readonly intervalSeconds: number };

// The insert takes the first try of a bucket, the update all others. Where neither writes, the bucket is booked out.
const TAKE = `
INSERT INTO auth.throttle AS t (bucket, booked_until)
VALUES ($1, clock_timestamp() + $2 * interval '1 second')
ON CONFLICT (bucket) DO UPDATE
SET booked_until = greatest(t.booked_until, clock_timestamp()) + $2 * interval '1 second'
WHERE greatest(t.booked_until, clock_timestamp()) <= clock_timestamp() + ($3 - 1) * $2 * interval '1 second'
RETURNING 1`;
const WAIT = `
SELECT ceil(extract(epoch FROM booked_until - clock_timestamp()) - ($3 - 1) * $2)::int AS seconds
FROM auth.throttle WHERE bucket = $1`;
const GIVE_BACK = `
UPDATE auth.throttle SET booked_until = booked_until - $2 * interval '1 second' WHERE bucket = $1`;

/** Takes one try of a bucket. Returns 0, or the seconds to wait when no try is left. */
export async function takeTry(pool: Pool, bucket: string, { burst, intervalSeconds }: Pace): Promise<number> {
  const values = [bucket, intervalSeconds, burst];
  if ((await pool.query(TAKE, values)).rowCount === 1) return 0;
  const { rows } = await pool.query<{ seconds: number }>(WAIT, values);
  return Math.max(1, rows[0]?.seconds ?? 1);
}

/** Gives back a try that succeeded. */
export async function giveBackTry(pool: Pool, bucket: string, { intervalSeconds }: Pace): Promise<void> {
  await pool.query(GIVE_BACK, [bucket, intervalSeconds]);
}
