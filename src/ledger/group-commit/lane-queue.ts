// The members that wait for a lane: a queue for each kind of statement.

import { ServiceBusy } from "../../kernel/errors.ts";
import type { LaneStatement } from "./lane-statement.ts";

/** The largest group. Beyond it the statement costs more per member than it saves. */
export const MAX_GROUP_SIZE = 64;
/**
 * How many admissions may wait for a lane. More are refused at once: they would only wait longer than their callers do.
 * Settlements have no such bound: each follows an admission that was accepted, and it frees money.
 */
export const MAX_WAITING_ADMISSIONS = 10_000;

/** One member on its way through a lane. */
export type Waiting = {
  readonly statement: LaneStatement<{ readonly accountId: string }, unknown>;
  readonly member: { readonly accountId: string };
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
  /** Runs by itself, because a group with it has failed. */
  alone: boolean;
  /** It was sent, and the server has not answered: its result may have been written. */
  perhapsWritten: boolean;
  /** What was written is being read, or that reading was lost as well. */
  isRecalled: boolean;
  attempts: number;
};

type Kind = LaneStatement<unknown, unknown>["name"];

export class LaneQueue {
  readonly #waiting: Record<Kind, Waiting[]> = { admission: [], extension: [], settlement: [] };
  /** Whether a settlement or extension went last while a member that runs alone was first in line as well. */
  #sharedWentLast = false;

  get length(): number {
    const { admission, extension, settlement } = this.#waiting;
    return admission.length + extension.length + settlement.length;
  }

  /** Adds a member. False: too many admissions wait. */
  add(waiting: Waiting): boolean {
    const queue = this.#queueOf(waiting);
    if (!mayJoin(queue, waiting)) return false;
    queue.push(waiting);
    return true;
  }

  /** Puts members back in front of all others of their kind, in their order. */
  putBack(members: readonly Waiting[]): void {
    for (const waiting of members.toReversed()) this.#queueOf(waiting).unshift(waiting);
  }

  /**
   * The members to run next, a list for each kind that has some: settlements first, because they free money, then extensions. A
   * member that runs by itself is the only one; extensions and admissions that do so take turns with the waiting settlements and
   * extensions.
   */
  nextGroups(): Waiting[][] {
    const { settlement, extension, admission } = this.#waiting;
    if (settlement[0]?.alone === true) return [settlement.splice(0, 1)];
    const shared = [settlement, extension];
    const lone = [extension, admission].find(([first]) => first?.alone === true);
    if (lone === undefined) shared.push(admission);
    else {
      this.#sharedWentLast = shared.some(([first]) => first?.alone === false) && !this.#sharedWentLast;
      if (!this.#sharedWentLast) return [lone.splice(0, 1)];
    }
    return shared.map(takeShared).filter((group) => group.length > 0);
  }

  /** Removes the selected members. */
  take(isMeant: (waiting: Waiting) => boolean): Waiting[] {
    const taken: Waiting[] = [];
    for (const queue of Object.values(this.#waiting)) {
      const kept: Waiting[] = [];
      for (const waiting of queue.splice(0)) (isMeant(waiting) ? taken : kept).push(waiting);
      queue.push(...kept);
    }
    return taken;
  }

  /** Rejects the selected members: the service is busy. */
  refuse(isMeant: (waiting: Waiting) => boolean, cause: unknown): void {
    for (const waiting of this.take(isMeant)) waiting.reject(new ServiceBusy(undefined, { cause }));
  }

  #queueOf({ statement }: Waiting): Waiting[] {
    return this.#waiting[statement.name];
  }
}

/** Whether a member may wait behind so many others. */
export function mayJoin({ length }: readonly Waiting[], { statement }: Waiting): boolean {
  return statement.name === "settlement" || length < MAX_WAITING_ADMISSIONS;
}

function takeShared(queue: Waiting[]): Waiting[] {
  let size = 0;
  while (size < queue.length && size < MAX_GROUP_SIZE && queue[size]?.alone === false) size += 1;
  return queue.splice(0, size);
}
