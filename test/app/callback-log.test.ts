// The log of callbacks as merchants see it, when its days are over: deliveries of transfers that have ended are gone, open ones are
// still sent, and the transfer itself is as it was.

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CallbackState } from "#gen/saldo/merchant/v1/callback_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { withClient, clientConfig } from "../../src/database/connections.ts";
import { issueServiceToken } from "../../src/identity/service-tokens.ts";
import { updateCallbackSettings } from "../../src/merchant/callbacks/callback-settings.ts";
import { creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { CallbackReceiver, sayOk } from "../merchant/callback-receiver.ts";
import { newMerchant } from "../merchant/merchant-accounts.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const WAIT = { timeout: 60_000 };

let opened: TestDatabase;
let receiver: CallbackReceiver;
let service: SaldoHere | undefined;
beforeAll(async () => {
  [opened, receiver] = await Promise.all([createTestDatabase(), CallbackReceiver.listen()]);
});
afterAll(async () => {
  await service?.stop();
  await receiver.close();
  await opened.drop();
});

const start = async (): Promise<SaldoHere> =>
  (service = await SaldoHere.start({
    DATABASE_URL: opened.url,
    SALDO_CALLBACKS_TO_LOOPBACK: "1",
    SALDO_CALLBACK_LOG_DAYS: "90",
  }));

/** A merchant whose callbacks go to the receiver, and the headers of its calls. */
async function newCalledMerchant() {
  const { database } = opened;
  const { merchantId, apiKey, secretKey } = await newMerchant(database);
  await creditMerchant(database, { merchantId, currencyCode: "TRX", amountText: "100" });
  const change = { merchantId, url: receiver.url, token: "", renewSecret: false };
  await updateCallbackSettings({ database, allowLoopback: true }, change);
  const { rows } = await database.pool.query<{ account_id: string }>("SELECT account_id FROM merchant WHERE id = $1", [
    merchantId,
  ]);
  const accountId = String(rows[0]?.account_id);
  const { secret } = await issueServiceToken(database.pool, { accountId, name: "test", scopes: ["read", "merchants"] });
  const authorization = `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`;
  return { merchantId, bearer: { authorization: `Bearer ${secret}` }, basic: { authorization } };
}

type Shown = { readonly data: { readonly history: readonly Record<string, unknown>[] } };

const OLDER = `(lpad(to_hex(('x' || left(replace(%::text, '-', ''), 12))::bit(48)::bigint - 100::bigint * 86400000), 12, '0')
  || right(replace(%::text, '-', ''), 20))::uuid`;
const older = (id: string): string => OLDER.replaceAll("%", id);

/** Makes the deliveries of transfers a hundred days older, with their events, whose ids begin with the time. */
async function makeOlder(transferIds: readonly string[]): Promise<void> {
  const statements = [
    "SET session_replication_role = replica",
    "ALTER TABLE transfer_event DISABLE TRIGGER append_only",
    "ALTER TABLE callback_attempt DISABLE TRIGGER keep",
    `UPDATE callback_attempt SET event_id = ${older("event_id")}
       WHERE event_id IN (SELECT event_id FROM callback_delivery WHERE transfer_id = ANY ($1))`,
    `UPDATE callback_delivery SET event_id = ${older("event_id")}, give_up_at = give_up_at - interval '100 days',
       next_attempt_at = next_attempt_at + interval '1 day' WHERE transfer_id = ANY ($1)`,
    `UPDATE transfer_event SET id = ${older("id")} WHERE transfer_id = ANY ($1)`,
    "ALTER TABLE transfer_event ENABLE ALWAYS TRIGGER append_only",
    "ALTER TABLE callback_attempt ENABLE ALWAYS TRIGGER keep",
  ];
  await withClient(clientConfig({ connectionString: opened.url }, "test"), async (owner) => {
    for (const statement of statements) await owner.query(statement, statement.includes("$1") ? [transferIds] : []);
  });
}

test(
  "an old log of callbacks is forgotten, and neither what is still to be sent nor the transfer",
  { timeout: 150_000 },
  async () => {
    let { httpUrl } = await start();
    const { merchantId, bearer: headers, basic } = await newCalledMerchant();
    const order = (externalId: string): Promise<Response> =>
      fetch(`${httpUrl}/sandbox/v1/merchant-transfers`, {
        method: "POST",
        headers: { ...basic, "content-type": "application/json" },
        body: `{"externalId":"${externalId}","currencyCode":"TRX","amount":5,"address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"}`,
      });
    const idOf = async (response: Response) => ((await response.json()) as { data: { id: string } }).data.id;
    const show = async (id: string) =>
      ((await (await fetch(`${httpUrl}/sandbox/v1/merchant-transfers/${id}`, { headers: basic })).json()) as Shown)
        .data;
    const client = () =>
      createClient(CallbackService, createConnectTransport({ baseUrl: httpUrl, httpVersion: "1.1" }));
    const list = async (transferId: string) =>
      (await client().listCallbackDeliveries({ merchantId, transferId }, { headers })).deliveries;
    const statesOf = async (transferId: string) => (await list(transferId)).map(({ state }) => state);
    const all = (state: CallbackState) => Array(3).fill(state);

    receiver.behave = (response, received) =>
      received.body.includes('"waiting"') ? void response.writeHead(503).end() : sayOk(response, received);
    const names = ["young", "delivered", "waiting"];
    const [young = "", delivered = "", waiting = ""] = await Promise.all(
      names.map(async (name) => idOf(await order(name))),
    );
    for (const id of [young, delivered])
      await expect.poll(() => statesOf(id), WAIT).toEqual(all(CallbackState.DELIVERED));
    const shown = await show(delivered);
    await expect.poll(() => statesOf(waiting), WAIT).toEqual(all(CallbackState.PENDING));
    await service?.stop();
    await makeOlder([delivered, waiting]);
    receiver.behave = sayOk;

    ({ httpUrl } = await start());
    await expect.poll(() => statesOf(delivered), WAIT).toEqual([]);
    expect(await statesOf(waiting)).toEqual(all(CallbackState.PENDING));
    expect(await statesOf(young)).toEqual(all(CallbackState.DELIVERED));
    // What waits is still sent.
    await client().resendCallback({ merchantId, deliveryId: (await list(waiting)).at(-1)?.id ?? "" }, { headers });
    await expect.poll(async () => (await statesOf(waiting)).at(-1), WAIT).toBe(CallbackState.DELIVERED);
    // The order is answered as before, and the transfer has its history.
    const again = await order("delivered");
    expect([again.status, again.headers.get("x-saldo-replayed")]).toEqual([200, "true"]);
    expect(await idOf(again)).toBe(delivered);
    const history = shown.history.map((event) => ({ ...event, id: expect.any(String) as string }));
    expect(await show(delivered)).toEqual({ ...shown, history });
  },
);
