// Accounts whose row, or whose key's row, stays locked by another transaction. Their members wait here, apart from the lane, so
// that others do not wait with them: a statement that meets a lock delays its lane for a quarter of a second. The pool checks
// whether the rows are free again, without waiting for a lock.

import type { Pool } from "pg";
import { ServiceBusy } from "../../kernel/errors.ts";
import { findFreeAccounts } from "../account-lock.ts";
import { mayJoin, type Waiting } from "./lane-queue.ts";

const LOOK_MS = { first: 50, most: 2_000 };

// NOWAIT fails where a row is locked; its own locks end with the statement.
const LOCK_KEYS = `SELECT FROM api_key WHERE account_id = $1::uuid FOR NO KEY UPDATE NOWAIT`;

type Locked = { members: Waiting[]; pauseMs: number; timer: NodeJS.Timeout | undefined };

export class LockedAccounts {
  readonly #pool: Pool;
  readonly #onFree: (members: Waiting[]) => void;
  readonly #locked = new Map<string, Locked>();

  /** `onFree` takes the members of an account back, in their order. */
  constructor(pool: Pool, onFree: (members: Waiting[]) => void) {
    this.#pool = pool;
    this.#onFree = onFree;
  }

  /** How many members wait. */
  get waiting(): number {
    let waiting = 0;
    for (const { members } of this.#locked.values()) waiting += members.length;
    return waiting;
  }

  /** Keeps a member waiting if its account is known to be locked; refuses it where too many wait. False: no lock is known. */
  join(waiting: Waiting): boolean {
    const locked = this.#locked.get(waiting.member.accountId);
    if (locked === undefined) return false;
    if (mayJoin(locked.members, waiting)) locked.members.push(waiting);
    else waiting.reject(new ServiceBusy());
    return true;
  }

  /** Keeps members of an account waiting until its rows are free, in front of those that wait already. */
  add(accountId: string, members: readonly Waiting[]): void {
    const locked = this.#locked.get(accountId) ?? { members: [], pauseMs: LOOK_MS.first, timer: undefined };
    this.#locked.set(accountId, locked);
    locked.members.unshift(...members);
    if (locked.timer === undefined) this.#lookLater(accountId, locked);
  }

  /** The accounts among these that are locked now; none where the database does not answer. */
  async find(accountIds: readonly string[]): Promise<Set<string>> {
    try {
      const free = await findFreeAccounts(this.#pool, accountIds);
      return new Set(accountIds.filter((id) => !free.has(id)));
    } catch {
      return new Set(); // the members then run one by one, which finds the lock more slowly
    }
  }

  /** Returns all members, whether their rows are free or not. */
  close(): void {
    for (const [accountId, locked] of this.#locked) {
      clearTimeout(locked.timer);
      this.#locked.delete(accountId);
      this.#onFree(locked.members);
    }
  }

  async #isFree(accountId: string): Promise<boolean> {
    try {
      if (!(await findFreeAccounts(this.#pool, [accountId])).has(accountId)) return false;
      await this.#pool.query(LOCK_KEYS, [accountId]);
      return true;
    } catch {
      return false; // a key is locked; or the database is unavailable, and its members may as well wait here
    }
  }

  #lookLater(accountId: string, locked: Locked): void {
    locked.timer = setTimeout(() => void this.#look(accountId, locked), locked.pauseMs);
  }

  async #look(accountId: string, locked: Locked): Promise<void> {
    const isFree = await this.#isFree(accountId);
    if (this.#locked.get(accountId) !== locked) return;
    if (isFree) {
      this.#locked.delete(accountId);
      this.#onFree(locked.members);
      return;
    }
    locked.members = locked.members.filter(({ since, statement, reject }) => {
      const mayWait = performance.now() - since <= statement.lockPatienceMs;
      if (!mayWait) reject(new ServiceBusy());
      return mayWait;
    });
    locked.pauseMs = Math.min(locked.pauseMs * 2, LOOK_MS.most);
    this.#lookLater(accountId, locked);
  }
}
