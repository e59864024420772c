// Upstreams that sent bytes which answer no request, shared by all processes: one of them finds it, all of them stop using
// connections again, and operators see it.

import type { Pool } from "pg";

/** How long a mark is kept. Processes that run on keep to it for longer. */
const KEPT = "30 days";

const MARK = `
INSERT INTO upstream_mark (upstream) SELECT unnest($1::text[])
ON CONFLICT (upstream) DO UPDATE SET mixed_up_at = excluded.mixed_up_at`;
const READ = `
SELECT upstream, mixed_up_at AS "mixedUpAt", extract(epoch FROM clock_timestamp() - mixed_up_at)::float8 * 1000 AS "agoMs"
FROM upstream_mark`;
const FORGET = `DELETE FROM upstream_mark WHERE mixed_up_at < clock_timestamp() - interval '${KEPT}'`;

export type UpstreamMark = { readonly upstream: string; readonly mixedUpAt: Date; readonly agoMs: number };

/** The marks of one process that the database does not have yet. */
export class UpstreamMarks {
  readonly #unwritten = new Set<string>();

  /** This process has found it. */
  add(upstream: string): void {
    this.#unwritten.add(upstream);
  }

  /** Writes the marks of this process, and returns those of all. The next call repeats a write that failed. */
  async exchange(pool: Pick<Pool, "query">): Promise<readonly UpstreamMark[]> {
    const found = [...this.#unwritten];
    if (found.length > 0) {
      await pool.query(MARK, [found]);
      for (const upstream of found) this.#unwritten.delete(upstream);
    }
    return readUpstreamMarks(pool);
  }
}

/** Reads the marks of all processes. */
export async function readUpstreamMarks(pool: Pick<Pool, "query">): Promise<readonly UpstreamMark[]> {
  const { rows } = await pool.query<UpstreamMark>(READ);
  return rows;
}

/** Forgets marks that are old. */
export async function forgetUpstreamMarks(pool: Pick<Pool, "query">): Promise<void> {
  await pool.query(FORGET);
}
