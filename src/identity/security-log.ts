// The security log: who signed in, tried to, or changed how they sign in, which credentials were refused, and what operators
// read. It holds no secret: an e-mail address is a keyed hash, a credential its first characters, an address its network.
//
// Recording never waits and never fails a caller. Events go into a bounded queue that is written in batches on one connection
// at a time; equal ones become one row with a count. A refused request costs its sender nothing, so rows of refusals are
// bounded per minute as well, and the number of those left out is recorded.

import { createHmac } from "node:crypto";
import type { Pool } from "pg";
import type { Clock } from "../kernel/clock.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { networkOf } from "./client-network.ts";

/** What happened. The names are part of the interface: operators filter and alert by them. */
export const SECURITY_EVENT_KINDS = [
  "sign_in",
  "sign_up",
  "email_verification",
  "password_reset",
  "password_change",
  "session_end",
  "second_factor",
  "second_factor_change",
  "step_up",
  "recovery_code",
  "passkey",
  "operator_role",
  "operator_read",
  "key_authentication",
  "pair_authentication",
  "token_authentication",
  "session_authentication",
  "rate_limit",
  "events_left_out",
] as const;
export type SecurityEventKind = (typeof SECURITY_EVENT_KINDS)[number];

export const SECURITY_OUTCOMES = ["succeeded", "refused"] as const;
export type SecurityOutcome = (typeof SECURITY_OUTCOMES)[number];

export type SecurityEvent = {
  readonly kind: SecurityEventKind;
  readonly outcome: SecurityOutcome;
  readonly personId?: string | null;
  /** In clear here; only its keyed hash is written. */
  readonly email?: string | null;
  /** The network address of the caller; only its network is written. */
  readonly address?: string | null;
  /** What it was about: the first characters of a credential, the id of an account or a session. Never a secret. */
  readonly subject?: string;
  /** One or a few words of detail, such as `totp`, `wrong_password` or a method's name. */
  readonly detail?: string;
};

/** Records an event. It returns at once and never throws. */
export type RecordSecurityEvent = (event: SecurityEvent) => void;

export type SecurityLog = {
  readonly recordSecurityEvent: RecordSecurityEvent;
  /** Writes what is waiting. Errors: the database's; what could not be written waits for the next time. */
  flush(): Promise<void>;
  /** Writes what is waiting, as far as the database accepts it, and stops the writing in batches. */
  close(): Promise<void>;
};

/** A line of the log as the process log shows it. */
export type SecurityLogLine = Omit<Row, "kind" | "email"> & {
  /** `security.` and the kind. */
  readonly event: `security.${string}`;
  readonly emailHash: string | null;
};

export type SecurityLogDependencies = {
  readonly pool: Pool;
  /** The secret under which addresses are hashed. */
  readonly secret: () => Promise<string>;
  /** The database did not accept a batch; it is tried again. */
  readonly onFault: (error: unknown) => void;
  /** Called once with each line, under the id that it has in the table, before the database takes it. */
  readonly onLine?: (line: SecurityLogLine) => void;
  /** A clock that never goes back. */
  readonly clock?: Clock;
};

/** Kinds of rows that wait to be written, at most. */
export const MOST_WAITING = 1_000;
/** Rows of refusals that a process writes in a minute, at most. */
export const REFUSALS_A_MINUTE = 120;
/** Rows of successes in a minute, at most: sign-ins and the like are bounded themselves, so this is for faults. */
const SUCCESSES_A_MINUTE = 1_200;
const WRITE_EVERY_MS = 1_000;
const MINUTE_MS = 60_000;
const MAX_TEXT = 120;

type Row = {
  readonly id: string;
  readonly kind: string;
  readonly outcome: string;
  readonly personId: string | null;
  readonly email: string | null;
  readonly network: string;
  readonly subject: string;
  readonly detail: string;
  times: number;
};

type HashedRow = Omit<Row, "email"> & { readonly emailHash: string | null };

const INSERT = `
INSERT INTO auth.security_event (id, kind, outcome, person_id, email_hash, network, subject, detail, times)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[])
ON CONFLICT DO NOTHING`;

/** The keyed hash by which the log names an e-mail address. */
export function emailHashOf(email: string, secret: string): string {
  return createHmac("sha256", `security-log ${secret}`).update(email.trim().toLowerCase()).digest("hex").slice(0, 32);
}

/** Makes the log of one process. */
export function createSecurityLog(dependencies: SecurityLogDependencies): SecurityLog {
  const { pool, secret, onFault, onLine = () => {}, clock = { now: () => performance.now() } } = dependencies;
  let waiting = new Map<string, Row>();
  let leftOut = 0;
  let writing: Promise<void> | null = null;
  const shown = new WeakSet<Row>();
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  const minute = { startedAtMs: clock.now(), refused: 0, succeeded: 0 };

  function mayWrite(outcome: SecurityEvent["outcome"]): boolean {
    if (clock.now() - minute.startedAtMs >= MINUTE_MS) {
      Object.assign(minute, { startedAtMs: clock.now(), refused: 0, succeeded: 0 });
    }
    if (waiting.size >= MOST_WAITING) return false;
    if (minute[outcome] >= (outcome === "refused" ? REFUSALS_A_MINUTE : SUCCESSES_A_MINUTE)) return false;
    minute[outcome] += 1;
    return true;
  }

  function recordSecurityEvent(event: SecurityEvent): void {
    const row = rowOf(event);
    const name = `${row.kind} ${row.outcome} ${row.personId} ${row.email} ${row.network} ${row.subject} ${row.detail}`;
    const same = waiting.get(name);
    if (same !== undefined) same.times += 1;
    else if (mayWrite(event.outcome)) waiting.set(name, row);
    else leftOut += 1;
    schedule();
  }

  function schedule(): void {
    if (timer !== null || closed) return;
    timer = setTimeout(() => {
      timer = null;
      flush().catch(onFault);
    }, WRITE_EVERY_MS);
    timer.unref();
  }

  /** One batch at a time; a second caller waits for the batch under way and writes what came since. */
  async function flush(): Promise<void> {
    while (writing !== null) await writing.catch(() => {}); // its starter gets the failure
    if (waiting.size === 0 && leftOut === 0) return;
    writing = write();
    try {
      await writing;
    } finally {
      writing = null;
    }
  }

  /** The rows as they may be written. Those that no write has tried before go to the process log too. */
  async function hashedOf(rows: readonly Row[]): Promise<HashedRow[]> {
    const key = await secret();
    return rows.map((row) => {
      const { kind, email, ...facts } = row;
      const hashed = { ...facts, emailHash: email === null ? null : emailHashOf(email, key) };
      if (!shown.has(row)) onLine({ event: `security.${kind}`, ...hashed });
      shown.add(row);
      return { kind, ...hashed };
    });
  }

  async function write(): Promise<void> {
    const [rows, missing] = [[...waiting.values()], leftOut];
    [waiting, leftOut] = [new Map(), 0];
    try {
      if (missing > 0) rows.push({ ...rowOf({ kind: "events_left_out", outcome: "refused" }), times: missing });
      const hashed = await hashedOf(rows);
      await insert(pool, hashed);
    } catch (error) {
      // They are not lost, and not more than before: what came meanwhile counts against the same bound.
      leftOut += missing;
      for (const row of rows.slice(0, rows.length - (missing > 0 ? 1 : 0))) {
        if (waiting.size < MOST_WAITING) waiting.set(`again ${row.id}`, row);
        else leftOut += row.times;
      }
      if (!closed) schedule();
      throw error;
    }
  }

  return {
    recordSecurityEvent,
    flush,
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await flush().catch(onFault);
    },
  };
}

function rowOf({ kind, outcome, personId, email, address, subject, detail }: SecurityEvent): Row {
  return {
    id: uuidv7(),
    kind,
    outcome,
    personId: personId ?? null,
    email: email?.trim().toLowerCase() ?? null,
    network: address ? networkOf(address) : "",
    subject: cut(subject),
    detail: cut(detail),
    times: 1,
  };
}

/** PostgreSQL keeps no NUL, and a text of a caller may be long. */
function cut(text = ""): string {
  return text.slice(0, MAX_TEXT).replaceAll("\0", "");
}

async function insert(pool: Pool, rows: readonly HashedRow[]): Promise<void> {
  await pool.query({
    name: "write_security_events",
    text: INSERT,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.kind),
      rows.map((row) => row.outcome),
      rows.map((row) => row.personId),
      rows.map((row) => row.emailHash),
      rows.map((row) => row.network),
      rows.map((row) => row.subject),
      rows.map((row) => row.detail),
      rows.map((row) => row.times),
    ],
  });
}
