// A service in which every text that a person can write tries to be something else: an element, a script, a template,
// an address. Each contains the place where it was written, so that it is recognized wherever it is shown.

import { createClient, type Transport } from "@connectrpc/connect";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { AccountsService, KeysService } from "../../src/client/client.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createOperatorClient } from "../setup/operator-client.ts";
import { ADDRESS } from "../security/requests-about.ts";
import { onServer } from "../setup/test-servers.ts";
import type { Dashboard, Visit } from "./open-dashboard.ts";
import { callsOf } from "./session-calls.ts";

/** Every URL that one of these texts tries to load begins with this path. */
export const LURE = "/xss-";

/** Searched on a page: the text is there unchanged, or it was turned into something else. */
export const partOf = (place: string): string => `<img src=${LURE}${place} onerror=alert(1)>{{7*7}}`;

/** The places where such a text was written. */
export const written = new Set<string>();

/** A text to write at a place. */
export function hostile(place: string): string {
  written.add(place);
  return `"><script>alert(1)</script>${partOf(place)}`;
}

/** A mail address has no spaces. */
export const HOSTILE_EMAIL = `<img/src=${LURE}email/onerror=alert(1)>@saldo.example`;
/** A badge is short. */
export const HOSTILE_BADGE = `<svg/onload=alert(1)>${LURE}badge`;
/** A URL has its own character set. */
export const CALLBACK = `x={{7*7}}${LURE}callback(alert(1))`;
/** The characters of model ids allow nothing worse. */
export const MODEL_ID = "a.b/c:free/d..e_f-1.5:x";

const CATALOG = JSON.stringify({
  models: [
    {
      id: MODEL_ID,
      name: hostile("model-name"),
      description: `${hostile("description")} javascript:alert(1)`,
      badge: HOSTILE_BADGE,
      context_length: 131_072,
      max_output_tokens: 16_384,
      price: { input: "4000", output: "16000" },
      routes: [
        { upstream: "demo", model: "echo" },
        { upstream: "demo", model: hostile("route") },
      ],
    },
  ],
});

/** Ids of rows that have a page of their own. */
export type HostileSetup = {
  readonly visit: Visit;
  readonly accountId: string;
  readonly requestId: string;
  readonly transferId: string;
  readonly merchantId: string;
};

/** A new person signs up, becomes an operator, and writes hostile texts in every field. */
export async function makeHostileSetup(dashboard: Dashboard): Promise<HostileSetup> {
  const visit = await dashboard.signUp({ userAgent: hostile("browser"), reducedMotion: "reduce" });
  const session = await callsOf(dashboard, visit);
  const { person } = await createClient(AccountsService, session).getMe({});
  const accountId = person?.accountId ?? "";
  await renamePerson(dashboard.database, accountId);
  const operator = createOperatorClient(session);
  await operator.publishCatalog({
    draft: { content: { case: "yaml", value: CATALOG } },
    baseVersion: (await operator.getCatalog({})).version,
    reason: hostile("publish"),
  });
  const order = () => ({ accountId, idempotencyKey: uuidv7(), amount: "5000" });
  await operator.creditAccount({ ...order(), reason: hostile("credit") });
  await operator.adjustAccount({ ...order(), amount: "-1000", reason: hostile("adjust") });
  await operator.setAccountLimit({ accountId, maxOpenRequests: 50, reason: hostile("limit") });
  const requestId = await askSomething(dashboard, session);
  await operator.creditUsage({ requestId, amount: "0.01", reason: hostile("credit-note"), name: hostile("note-name") });
  await operator.updateSettings({ settings: { welcomeCredit: "1" }, reason: hostile("settings") });
  const merchant = await makeTransfer(session);
  return { visit, accountId, requestId, ...merchant };
}

/** This ends everything else, and has a reason, too. */
export async function stopEverything(dashboard: Dashboard, { visit, accountId }: HostileSetup): Promise<void> {
  const operator = createOperatorClient(await callsOf(dashboard, visit));
  await operator.stopAdmission({ reason: hostile("stop") });
  // Freezing an account ends its sessions, and this one is the operator's own.
  const { url } = dashboard.database;
  await onServer(url, "CREATE TABLE auth.kept_session AS SELECT * FROM auth.session");
  await operator.freezeAccount({ accountId, reason: hostile("freeze") });
  await onServer(url, "INSERT INTO auth.session SELECT * FROM auth.kept_session");
  await onServer(url, "DROP TABLE auth.kept_session");
}

/**
 * No form accepts such an address from a browser; the command line and an import could bring one. It is written as the
 * database's owner: the serving role may not do this.
 */
async function renamePerson({ url }: Dashboard["database"], accountId: string): Promise<void> {
  const quoted = [HOSTILE_EMAIL, hostile("person"), accountId].map((text) => `'${text.replaceAll("'", "''")}'`);
  const [email, name, account] = quoted;
  await onServer(url, `UPDATE customer SET email = ${email} WHERE account_id = ${account}`);
  await onServer(
    url,
    `WITH person AS (
       UPDATE auth.person SET email = ${email}, name = ${name}, is_operator = true, two_factor_enabled = true
       WHERE account_id = ${account} RETURNING id)
     UPDATE auth.session s SET proved_at = 'infinity', factor_proved = true FROM person p WHERE s.user_id = p.id`,
  );
}

async function askSomething({ saldo }: Dashboard, session: Transport): Promise<string> {
  const { secret } = await createClient(KeysService, session).createKey({ name: hostile("key") });
  for (;;) {
    const answer = await fetch(`${saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL_ID, messages: [{ role: "user", content: "Hi" }] }),
    });
    await answer.text();
    if (answer.ok) return answer.headers.get("x-request-id") ?? "";
    // The catalog is read again within a minute; until then there is no such model.
    if (answer.status !== 404) throw new Error(`asking was answered ${answer.status}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function makeTransfer(session: Transport): Promise<{ merchantId: string; transferId: string }> {
  const merchants = createClient(MerchantService, session);
  const { merchant } = await merchants.createMerchant({ environment: Environment.SANDBOX });
  const merchantId = merchant?.id ?? "";
  const operator = createOperatorClient(session);
  await operator.setFee({ merchantId, currencyCode: "TRX", terms: { flat: "1", rate: "0" }, reason: hostile("fee") });
  await operator.creditMerchant({
    merchantId,
    currencyCode: "TRX",
    amount: "1000",
    reason: hostile("coins"),
    idempotencyKey: uuidv7(),
  });
  const externalId = hostile("external-id");
  const order = { externalId, currencyCode: "TRX", amount: "10", address: ADDRESS };
  const { transfer } = await createClient(MerchantTransferService, session).createTransfer({ merchantId, ...order });
  const url = `https://merchant.example/hook?${CALLBACK}`;
  await createClient(CallbackService, session).updateCallbackSettings({ merchantId, url });
  return { merchantId, transferId: transfer?.id ?? "" };
}
