// Everything other modules do with top-ups: for the service, the webhook route, the workers and the operator.

import type { Database } from "../../database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import { NotFound } from "../../kernel/errors.ts";
import { type Page, type PageRequest, readPage } from "../../kernel/paging.ts";
import type { NotificationRequest } from "../payments/payment-provider.ts";
import type { PaymentProviders } from "../payments/payment-providers.ts";
import { checkDueTopUps, verifyTopUpNow, type WhichDue } from "./check-top-ups.ts";
import { createTopUp, type TopUpOrder } from "./create-top-up.ts";
import { selectTopUps, selectTopUpsOfAccount } from "./store.ts";
import { knowsOrderOf, takeNotification } from "./take-notification.ts";
import type { TopUp } from "./top-up.ts";
import { TopUpWatch } from "./watch-top-ups.ts";

export type TopUps = {
  /** Opens a top-up; for its errors see createTopUp. */
  create(order: TopUpOrder): Promise<TopUp>;
  /** Whether a top-up can save the method that pays it. */
  readonly canSaveMethods: boolean;
  /** Errors: NotFound, also for another account's. */
  get(asked: { accountId: string; topUpId: string }): Promise<TopUp>;
  /** An account's top-ups, newest first. Errors: ValidationError when the page token is none. */
  list(query: { accountId: string } & PageRequest): Promise<Page<TopUp>>;
  /** Follows a top-up; see TopUpWatch.watch. */
  watch(asked: { accountId: string; topUpId: string }, signal: AbortSignal): AsyncGenerator<TopUp, void>;
  /** Asks the provider now, about a top-up of any account. Errors: NotFound; UpstreamBusy when the provider does not answer. */
  verifyNow(topUpId: string): Promise<TopUp>;
  /** Takes a provider's notification; see takeNotification. */
  takeNotification(provider: string, request: NotificationRequest): Promise<void>;
  /** Whether the order that a notification names is here. Errors: those of takeNotification about its text. */
  knowsOrder(provider: string, request: NotificationRequest): Promise<boolean>;
  /** Whether there is a route for a provider's notifications. */
  takesNotificationsOf(provider: string): boolean;
  /** The names of the providers whose top-ups are asked about here. */
  readonly providers: readonly string[];
  /** Asks providers, or one of them, about every top-up that is due. Returns how many. */
  checkDue(which?: WhichDue): Promise<number>;
  /** Ends all watching: a server that stops need not wait for it. */
  endWatching(): void;
};

export type TopUpsOptions = {
  readonly database: Database;
  readonly providers: PaymentProviders;
  readonly clock: Clock;
  /** How long an order can be paid. */
  readonly expiresAfterMs: number;
  readonly returnUrlOf: (topUpId: string) => string;
  /** Called when a provider did not do what it was asked. It is asked again. */
  readonly onFailure: (topUpId: string, error: unknown) => void;
};

/** Creates the top-ups of a process. */
export function createTopUps(options: TopUpsOptions): TopUps {
  const { database, providers, clock, expiresAfterMs, returnUrlOf, onFailure } = options;
  const checks = { database, clock, onFailure, providers };
  const creation = { database, clock, onFailure, provider: providers.chosen, expiresAfterMs, returnUrlOf };
  const watching = new TopUpWatch(database.pool);
  return {
    create: (order) => createTopUp(creation, order),
    canSaveMethods: providers.chosen?.charge != null,
    async get({ accountId, topUpId }) {
      const [topUp] = await selectTopUps(database.pool, [topUpId]);
      if (topUp?.accountId !== accountId) throw new NotFound("There is no such top-up.");
      return topUp;
    },
    list({ accountId, ...page }) {
      return readPage(
        page,
        (range) => selectTopUpsOfAccount(database.pool, { accountId, ...range }),
        ({ topUpId }) => topUpId,
      );
    },
    watch: (asked, signal) => watching.watch(asked, signal),
    verifyNow: (topUpId) => verifyTopUpNow(checks, topUpId),
    takeNotification: (provider, request) => takeNotification(database, providers.of(provider), request),
    knowsOrder: (provider, request) => knowsOrderOf(database, providers.of(provider), request),
    takesNotificationsOf: (provider) => providers.of(provider)?.takesNotifications === true,
    providers: providers.names,
    checkDue: (which) => checkDueTopUps(checks, which),
    endWatching: () => watching.stop(),
  };
}
