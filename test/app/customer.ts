// A customer as a test makes one: through the operator's command line, like every other customer.

import { randomUUID } from "node:crypto";
import { saldoJson } from "../setup/saldo-command.ts";

export type Customer = { readonly accountId: string; readonly keyId: string; readonly key: string };

let made = 0;

/** An account with rupiah on it and a key. */
export async function newCustomer(
  settings: Readonly<Record<string, string>>,
  { amount, rateLimit = 0 }: { amount?: string; rateLimit?: number } = {},
): Promise<Customer> {
  made += 1;
  const email = `customer-${process.pid}-${made}@test.example`;
  const { accountId = "" } = await saldoJson(["account", "create", "--email", email], settings);
  if (amount !== undefined) {
    // The command line refuses three decimals, which may group thousands; a fourth one makes them decimals.
    const written = /\.\d{3}$/.test(amount) ? `${amount}0` : amount;
    const credit = ["account", "credit", "--account", accountId, "--amount", written];
    await saldoJson([...credit, "--reason", "test", "--reference", randomUUID()], settings);
  }
  const { keyId = "", key = "" } = await saldoJson(
    ["key", "create", "--account", accountId, "--name", "test", "--rate-limit", String(rateLimit)],
    settings,
  );
  return { accountId, keyId, key };
}

/** Sends a chat request as JSON. */
export function chat(baseUrl: string, key: string, body: unknown): Promise<Response> {
  return fetch(`${baseUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
