// Whether commits are confirmed by a standby. Where the operator requires it (SALDO_REQUIRE_SYNC_STANDBY=1), nothing is served
// while it is not so: an answer that only one machine knows of is lost with it.

import type { Pool } from "pg";

/** What was seen is believed for so long. A look that fails leaves the last one. */
const BELIEVED_MS = 5_000;
const LOOK_WITHIN_MS = 2_000;
const LOOK = { text: "SELECT synchronous_standbys() AS standbys", query_timeout: LOOK_WITHIN_MS };

const WOULD_WAIT = {
  text: `SELECT current_setting('synchronous_standby_names') <> '' AND synchronous_standbys() = 0 AS waits`,
  query_timeout: LOOK_WITHIN_MS,
};

/** Whether a commit would wait for standbys that are not attached. */
export async function wouldCommitsWait(pool: Pick<Pool, "query">): Promise<boolean> {
  return (await pool.query<{ waits: boolean }>(WOULD_WAIT)).rows[0]?.waits === true;
}

export type StandbyWatchOptions = {
  readonly pool: Pick<Pool, "query">;
  readonly isRequired: boolean;
  /** Called when a required standby is found missing, and when there is one again. */
  readonly onChange?: (isMissing: boolean) => void;
  readonly now?: () => number;
};

export class StandbyWatch {
  readonly #pool: Pick<Pool, "query">;
  readonly #isRequired: boolean;
  readonly #onChange: (isMissing: boolean) => void;
  readonly #now: () => number;
  #seen: { readonly standbys: number; readonly atMs: number } | null = null;
  #wasMissing = false;

  constructor({ pool, isRequired, onChange = () => {}, now = () => performance.now() }: StandbyWatchOptions) {
    this.#pool = pool;
    this.#isRequired = isRequired;
    this.#onChange = onChange;
    this.#now = now;
  }

  /** How many standbys confirm commits, as seen last. */
  get standbys(): number {
    return this.#seen?.standbys ?? 0;
  }

  /** Whether a standby is required and none confirms commits, as far as is known. */
  get isMissing(): boolean {
    if (!this.#isRequired) return false;
    return this.standbys === 0 || this.#now() - (this.#seen?.atMs ?? 0) > BELIEVED_MS;
  }

  /** Looks. Errors: those of the database; what was seen before is believed for a moment longer. */
  async look(): Promise<void> {
    const atMs = this.#now();
    try {
      const { rows } = await this.#pool.query<{ standbys: number }>(LOOK);
      this.#seen = { standbys: rows[0]?.standbys ?? 0, atMs };
    } finally {
      if (this.isMissing !== this.#wasMissing) {
        this.#wasMissing = this.isMissing;
        this.#onChange(this.isMissing);
      }
    }
  }
}
