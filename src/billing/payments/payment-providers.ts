// The providers of a process, by name. Every one that is configured is served, so that orders of one that was left are still
// paid; new orders are opened at the chosen one.

import type { Pool } from "pg";
import { createMidtransProvider, type MidtransConfig } from "./midtrans/midtrans-provider.ts";
import { isProviderName, type PaymentProvider, PROVIDER_NAMES, type ProviderName } from "./payment-provider.ts";
import { createSandboxProvider } from "./sandbox/sandbox-provider.ts";
import { createXenditProvider, type XenditConfig } from "./xendit/xendit-provider.ts";

export type PaymentConfig = {
  /** Where new orders are opened. Null: nowhere. */
  readonly chosen: ProviderName | null;
  /** Whether the sandbox provider is there. */
  readonly sandbox: boolean;
  /** Null: not configured. */
  readonly midtrans: MidtransConfig | null;
  readonly xendit: XenditConfig | null;
};

export type PaymentProviders = {
  readonly chosen: PaymentProvider | null;
  /** Of those that are configured. */
  readonly names: readonly ProviderName[];
  /** Null: there is no such provider, or it is not configured. */
  of(name: string): PaymentProvider | null;
  close(): Promise<void>;
};

/** Opens the configured adapters. */
export function openPaymentProviders(
  { chosen, sandbox, midtrans, xendit }: PaymentConfig,
  { pool, baseUrl }: { pool: Pool; baseUrl: () => string },
): PaymentProviders {
  const providers: Readonly<Record<ProviderName, PaymentProvider | null>> = {
    sandbox: sandbox ? createSandboxProvider({ pool, baseUrl }) : null,
    midtrans: midtrans === null ? null : createMidtransProvider(midtrans),
    xendit: xendit === null ? null : createXenditProvider(xendit),
  };
  return {
    chosen: chosen === null ? null : providers[chosen],
    names: PROVIDER_NAMES.filter((name) => providers[name] !== null),
    of: (name) => (isProviderName(name) ? providers[name] : null),
    async close() {
      await Promise.all(Object.values(providers).flatMap((provider) => (provider === null ? [] : [provider.close()])));
    },
  };
}
