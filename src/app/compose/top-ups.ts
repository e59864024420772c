// Top-ups in this process: the configured providers, their service, and the sandbox provider's desk. Its notifications arrive at
// our own webhook, like those of real providers.

import { fetch } from "undici";
import { baseUrlOf } from "./announcement.ts";
import { autoTopUpTicks } from "../../billing/jobs/auto-top-ups.ts";
import { openPaymentProviders } from "../../billing/payments/payment-providers.ts";
import {
  createSandboxDesk,
  type SandboxDesk,
  type SandboxNotification,
} from "../../billing/payments/sandbox/sandbox-desk.ts";
import { SIGNATURE_HEADER } from "../../billing/payments/sandbox/sandbox-provider.ts";
import { createTopUps, type TopUps } from "../../billing/top-ups/top-ups.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Tick } from "../../workers/tick.ts";

/** A notification of the sandbox is taken at once or not. */
const DELIVERY_WITHIN_MS = 5_000;

export type TopUpParts = {
  readonly topUps: TopUps;
  /** Null: there is no sandbox provider. */
  readonly desk: SandboxDesk | null;
  /** Charges accounts that are low and want it. */
  readonly autoTopUpTicks: readonly Tick[];
  /** Closes the providers, once no more calls come. */
  close(): Promise<void>;
};

export type Place = {
  /** Where callers reach this service. */
  readonly baseUrl: () => string;
  /** The port this process listens on. */
  readonly httpPort: () => number;
};

/** Builds top-ups. */
export function createTopUpParts(
  { config, database, logger }: { config: Config; database: Database; logger: Pick<EventLogger, "warn"> },
  { baseUrl, httpPort }: Place,
): TopUpParts {
  const { payments, host, httpTls } = config;
  const providers = openPaymentProviders(payments, { pool: database.pool, baseUrl });
  const topUps = createTopUps({
    database,
    providers,
    clock: systemClock,
    expiresAfterMs: payments.expiresAfterMs,
    returnUrlOf: (topUpId) => `${baseUrl()}/billing?topUp=${topUpId}`,
    onFailure: (topUpId, err) =>
      logger.warn({ event: "payment.provider.failed", topUpId, err }, "a payment provider gave no usable answer"),
  });
  // To ourselves directly: the public address may lie behind something that only others can pass.
  const webhook = (): string =>
    `${baseUrlOf({ publicUrl: null, host, httpTls }, httpPort())}/webhooks/payments/sandbox`;
  const desk = payments.sandbox
    ? createSandboxDesk(database.pool, (notification) => deliver(webhook(), notification))
    : null;
  return {
    topUps,
    desk,
    autoTopUpTicks: autoTopUpTicks({
      database,
      providers,
      clock: systemClock,
      onFailure: (accountId, err) =>
        logger.warn({ event: "payment.automatic.failed", accountId, err }, "an automatic top-up could not be charged"),
    }),
    async close() {
      await desk?.stop();
      await providers.close();
    },
  };
}

async function deliver(url: string, { body, signature }: SandboxNotification): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", [SIGNATURE_HEADER]: signature },
    body,
    signal: AbortSignal.timeout(DELIVERY_WITHIN_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the notification was answered with ${response.status}`);
}
