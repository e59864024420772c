// Sends receivers the events that concern them. Deliveries are rows; a process leases one for a while, so a process that dies in
// the middle loses nothing: the same event is sent again, under the same id. Only the receiver can know by that id whether it was
// sent twice.

import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { DomainError } from "../kernel/errors.ts";
import type { CallbackKind } from "./callback-kind.ts";
import { type CallbackPlaces, type CallbackUrlRules, checkCallbackUrl, mayCallLoopback } from "./callback-url.ts";
import { END_TEXTS } from "./delivery-reasons.ts";
import type { AttemptFacts, ClaimedDelivery, WaitingReceiver } from "./delivery-store.ts";
import { type CallbackAnswer, sendCallback, type SendOptions } from "./send-callback.ts";

/** Attempts of one receiver that run at once, over all nodes: a slow receiver keeps no more than these. */
const MOST_PER_RECEIVER = 4;
/** The same for a receiver whose last callback was not accepted: one attempt shows whether it is back. */
const MOST_PER_FAILING = 1;
/** Attempts that run at once in this process, and up to where receivers that fail may fill them. */
const MOST_RUNNING = 128;
const MOST_RUNNING_FAILING = 64;
const FIRST_RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 3_600_000;
/** So often a receiver may answer anything but OK before later events no longer wait for this one. */
const ANSWERS_BEFORE_PASSABLE = 5;
/** How long a stop waits for attempts that run; those that run longer are repeated by another process. */
const STOP_WITHIN_MS = 2_000;

/** The JSON text of an event, and the environment that decides which addresses may be called. */
export type CallbackMessage = { readonly body: string } & Pick<CallbackUrlRules, "environment">;

export type DelivererOptions = CallbackPlaces & {
  readonly database: Pick<Database, "pool">;
  readonly kind: CallbackKind;
  /** What is sent of an event. */
  readonly messageOf: (claimed: ClaimedDelivery) => Promise<CallbackMessage>;
  /** Whether any answer of 2xx accepts a callback. Left out: only `{"message":"OK"}` does. */
  readonly takesAnySuccess?: boolean;
  /** Called when a receiver is not called any more. */
  readonly onStopped: (receiverId: string) => void;
  /** Called with the error that kept an attempt from being made or recorded. */
  readonly onError: (error: unknown) => void;
  readonly random?: () => number;
  readonly sending?: SendOptions;
};

/** Delivers what is due, round by round, without waiting for slow receivers. */
export class CallbackDeliverer {
  readonly #options: DelivererOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  /** Starts attempts for what is due. It returns when they are started, not when they have ended. */
  async round(signal?: AbortSignal): Promise<void> {
    const { database, kind } = this.#options;
    const free = (most: number): number => (signal?.aborted === true ? 0 : most - this.#running.size);
    if (free(MOST_RUNNING) <= 0) return;
    for (const waiting of await kind.deliveries.readWaiting(database.pool, free(MOST_RUNNING))) {
      const atMost = free(waiting.isFailing ? MOST_RUNNING_FAILING : MOST_RUNNING);
      if (atMost <= 0) return;
      for (const claimed of await this.#claim(waiting, atMost)) this.#start(claimed);
    }
  }

  /** Waits until no attempt runs. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Waits for attempts that end soon, and aborts the others. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#stopping.abort(), STOP_WITHIN_MS);
    await this.idle();
    clearTimeout(timer);
  }

  #claim({ receiverId, isFailing }: WaitingReceiver, atMost: number): Promise<ClaimedDelivery[]> {
    const { database, kind } = this.#options;
    return withTransaction(database, async (client) => {
      const settings = await kind.settings.tryLock(client, receiverId);
      // Another process takes this receiver's just now.
      if (settings === undefined) return [];
      if (settings.url === null || settings.stoppedAt !== null) {
        await kind.deliveries.failPending(client, receiverId, END_TEXTS.turnedOff);
        return [];
      }
      const perReceiver = isFailing ? MOST_PER_FAILING : MOST_PER_RECEIVER;
      return kind.deliveries.claimDue(client, { receiverId, perReceiver, atMost });
    });
  }

  #start(claimed: ClaimedDelivery): void {
    const attempt = this.#attempt(claimed).catch((error: unknown) => this.#options.onError(error));
    this.#running.add(attempt);
    void attempt.finally(() => this.#running.delete(attempt));
  }

  async #attempt(claimed: ClaimedDelivery): Promise<void> {
    const { database, kind } = this.#options;
    const startedAt = new Date();
    const settings = await kind.settings.read(database.pool, claimed.receiverId);
    const { url, token, secret } = settings ?? {};
    // Turned off since it was claimed: the next claim finds that out and gives it up.
    if (url === undefined || url === null || token === undefined || secret === undefined) return;
    const startedMs = performance.now();
    const answer = await this.#send(claimed, { url, token, secret });
    const durationMs = Math.round(performance.now() - startedMs);
    await this.#record(claimed, answer, { url, startedAt, durationMs, ...answer });
  }

  async #send(
    claimed: ClaimedDelivery,
    settings: { url: string; token: string; secret: string },
  ): Promise<CallbackAnswer> {
    const { allowLoopback, hosts = [], messageOf, takesAnySuccess = false, sending } = this.#options;
    const { eventId } = claimed;
    const { body, environment } = await messageOf(claimed);
    const rules = { environment, allowLoopback, hosts };
    try {
      const url = checkCallbackUrl(settings.url, rules);
      const callback = {
        ...settings,
        url,
        eventId,
        body,
        takesAnySuccess,
        nowMs: Date.now(),
        allowLoopback: mayCallLoopback(rules),
      };
      return await sendCallback(callback, { ...sending, signal: this.#stopping.signal });
    } catch (error) {
      // An address that was good when it was set, and is not by the rules of today.
      if (error instanceof DomainError) return { httpStatus: null, problem: error.message, isAway: true };
      throw error;
    }
  }

  /** Writes down how it went, in one transaction with what follows from it. */
  async #record(claimed: ClaimedDelivery, answer: CallbackAnswer, facts: AttemptFacts): Promise<void> {
    const { database, kind, random = Math.random, onStopped } = this.#options;
    const { settings, deliveries } = kind;
    const { receiverId, attempt } = claimed;
    const isPassable = !answer.isAway && attempt >= ANSWERS_BEFORE_PASSABLE;
    const record = (): Promise<boolean> =>
      withTransaction(database, async (client) => {
        await settings.lock(client, receiverId);
        await deliveries.insertAttempt(client, claimed.eventId, facts);
        if (answer.problem === null) {
          await deliveries.markDelivered(client, claimed);
          return false;
        }
        await deliveries.markTried(client, claimed, { retryAfterMs: retryAfterMs(attempt, random), isPassable });
        return deliveries.stopIfHopeless(client, receiverId);
      });
    if (await withRetry(record)) onStopped(receiverId);
  }
}

/** The pause behind the nth attempt: doubling from 15 seconds to an hour, and up to half of it less, so that not all come at once. */
export function retryAfterMs(attempt: number, random: () => number): number {
  const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 30));
  return Math.round(longest * (1 - random() / 2));
}
