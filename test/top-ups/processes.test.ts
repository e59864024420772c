// Top-ups of people and internal services: through running processes, the contract and the sandbox's page.

import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { issueServiceToken } from "../../src/identity/service-tokens.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { SOUND } from "../money/money-setup.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { MIDTRANS_KEY } from "./fake-provider.ts";
import { AMOUNT, RUPIAH, TopUpSetup } from "./top-up-setup.ts";

type Customer = { readonly accountId: string; readonly headers: Record<string, string> };
type Billing = Client<typeof BillingService>;

let setup: TopUpSetup;
let one: SaldoHere;
let other: SaldoProcess;
const running: (SaldoHere | SaldoProcess)[] = [];

async function startProcess(more: Record<string, string> = {}): Promise<SaldoProcess> {
  const saldo = await SaldoProcess.start({ DATABASE_URL: setup.money.opened.url, ...more });
  running.push(saldo);
  return saldo;
}

async function startHere(more: Record<string, string> = {}): Promise<SaldoHere> {
  const saldo = await SaldoHere.start({ DATABASE_URL: setup.money.opened.url, ...more });
  running.push(saldo);
  return saldo;
}

beforeAll(async () => {
  setup = await TopUpSetup.create();
  one = await startHere();
  other = await startProcess();
});
afterAll(async () => {
  await Promise.all(running.map((saldo) => saldo.stop()));
  expect(await setup.money.audit()).toEqual(SOUND);
  await setup.close();
});

type Served = Pick<SaldoProcess, "httpUrl">;

const billingOf = ({ httpUrl }: Served): Billing =>
  createClient(BillingService, createConnectTransport({ baseUrl: httpUrl, httpVersion: "1.1" }));

async function customer(): Promise<Customer> {
  const accountId = await setup.money.account(0n);
  const { secret } = await withTransaction(setup.money.opened.database, (client) =>
    issueServiceToken(client, { accountId, name: "test", scopes: ["read", "top_ups"] }),
  );
  return { accountId, headers: { authorization: `Bearer ${secret}` } };
}

let keys = 0;
async function createAt(saldo: Served, { headers }: Customer, amount = String(RUPIAH)) {
  keys += 1;
  const { topUp } = await billingOf(saldo).createTopUp({ amount, idempotencyKey: `key-${keys}` }, { headers });
  if (topUp === undefined) throw new Error("a top-up was asked for and none came");
  return topUp;
}

const press = (paymentUrl: string, action: string): Promise<Response> =>
  fetch(paymentUrl, { method: "POST", redirect: "manual", body: new URLSearchParams({ action }) });

/** Watches a top-up: the states so far, and the end of the stream. */
function watch(saldo: Served, topUpId: string, { headers }: Customer) {
  const states: TopUpState[] = [];
  const ended = (async () => {
    for await (const { topUp } of billingOf(saldo).watchTopUp({ topUpId }, { headers }))
      states.push(topUp?.state ?? TopUpState.UNSPECIFIED);
  })();
  return { states, ended };
}

describe("a top-up at the sandbox", () => {
  it.each([
    ["promptly", ["pay"], [TopUpState.PENDING, TopUpState.PAID]],
    ["with a late notification", ["pay_late"], [TopUpState.PENDING, TopUpState.PAID]],
    ["with a doubled notification", ["pay_twice"], [TopUpState.PENDING, TopUpState.PAID]],
    ["with a notification that never comes", ["pay_silently"], [TopUpState.PENDING, TopUpState.PAID]],
    ["after it has expired", ["expire", "pay"], [TopUpState.PENDING, TopUpState.EXPIRED, TopUpState.PAID]],
  ] as const)(
    "paid %s is seen by a watcher at another process, and is on the balance",
    async (_how, actions, expected) => {
      const buyer = await customer();
      const { id, paymentUrl, state, provider } = await createAt(one, buyer);
      expect({ state, provider }).toEqual({ state: TopUpState.PENDING, provider: "sandbox" });
      const { states, ended } = watch(other, id, buyer);
      for (const [step, action] of actions.entries()) {
        // Each only after the one before was seen, because a watcher may get the last state alone.
        await expect.poll(() => states, { timeout: 20_000 }).toEqual(expected.slice(0, step + 1));
        expect((await press(paymentUrl, action)).status).toBe(303);
      }
      await ended;
      expect(states).toEqual(expected);
      expect(await setup.standing(buyer.accountId)).toEqual({ available: RUPIAH, owed: 0 });
      expect(await setup.creditsOf(id)).toBe(1);
      const { balance } = await billingOf(other).getBalance({}, buyer);
      expect(balance).toMatchObject({ available: String(RUPIAH), owed: "0" });
    },
  );

  it("shows a page that loads nothing and works without a script", async () => {
    const { paymentUrl } = await createAt(one, await customer());
    const page = await fetch(paymentUrl, { headers: { "accept-language": "en" } });
    const html = await page.text();
    expect(page.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/,
    );
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(html).toContain("Rp 25,000");
    expect(html).not.toContain("<script");
    for (const action of ["pay", "pay_late", "pay_twice", "pay_silently", "review", "fail", "expire", "cancel"])
      expect(html).toContain(`name="action" value="${action}"`);
    await press(paymentUrl, "pay");
    const paid = await (await fetch(paymentUrl)).text();
    expect(paid).toContain('data-status="paid"');
    expect(paid).toContain('lang="id"');
    expect(paid).not.toContain("<button");
  });

  it("has no page under a guessed address, and no action but those on the page", async () => {
    const { paymentUrl } = await createAt(one, await customer());
    expect((await fetch(`${paymentUrl.slice(0, -1)}?`)).status).toBe(404);
    expect((await press(paymentUrl, "refund")).status).toBe(400);
    expect((await press(paymentUrl, "constructor")).status).toBe(400);
    expect((await press(paymentUrl, "x".repeat(5_000))).status).toBe(413);
  });

  it("canceled and refused is reported as such", async () => {
    const buyer = await customer();
    for (const [action, state] of [
      ["cancel", TopUpState.CANCELED],
      ["fail", TopUpState.FAILED],
      ["review", TopUpState.REVIEW],
    ] as const) {
      const { id, paymentUrl } = await createAt(one, buyer);
      await press(paymentUrl, action);
      const stateOf = async () => (await billingOf(other).getTopUp({ topUpId: id }, buyer)).topUp?.state;
      await expect.poll(stateOf, { timeout: 20_000 }).toBe(state);
    }
    expect(await setup.standing(buyer.accountId)).toEqual({ available: 0, owed: 0 });
  });
});

describe("the contract", () => {
  it.each(["9999", "10000.5", "-10000", "1e15", '"10000"', "010000", "1000000001", "", " 10000", "１００００"])(
    "refuses the amount %j and names the wrong field",
    async (amount) => {
      const buyer = await customer();
      const error = await createAt(one, buyer, amount).catch((thrown: unknown) => ConnectError.from(thrown));
      if (!(error instanceof ConnectError)) throw new Error("it should have been refused");
      expect(error.code).toBe(Code.InvalidArgument);
      const [facts] = error.findDetails(ErrorFactsSchema);
      expect(facts?.code).toBe("validation_error");
      expect(facts?.details).toMatchObject([{ field: "amount" }]);
      expect((await billingOf(one).listTopUps({}, buyer)).topUps).toEqual([]);
    },
  );

  it.each([10_000, 1e15, 10_000.5, -10_000, null, true])("refuses the amount %j, which is no text", async (amount) => {
    const { headers, accountId } = await customer();
    const response = await fetch(`${one.httpUrl}/saldo.billing.v1.BillingService/CreateTopUp`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ amount, idempotencyKey: "numbers" }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_argument" });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
  });

  it("does not find another account's top-up, to show or to watch", async () => {
    const { id } = await createAt(one, await customer());
    const stranger = await customer();
    const billing = billingOf(one);
    await expect(billing.getTopUp({ topUpId: id }, stranger)).rejects.toMatchObject({ code: Code.NotFound });
    await expect(watch(one, id, stranger).ended).rejects.toMatchObject({ code: Code.NotFound });
    expect((await billing.listTopUps({}, stranger)).topUps).toEqual([]);
  });

  it("lists an account's top-ups, newest first, by pages", async () => {
    const buyer = await customer();
    const made = [];
    for (let number = 0; number < 5; number += 1) made.push((await createAt(one, buyer)).id);
    const listed: string[] = [];
    for (let pageToken = "", pages = 0; pages < 10; pages += 1) {
      const page = await billingOf(other).listTopUps({ pageSize: 2, pageToken }, buyer);
      listed.push(...page.topUps.map(({ id }) => id));
      if (page.nextPageToken === "") break;
      pageToken = page.nextPageToken;
    }
    expect(listed).toEqual(made.toReversed());
  });
});

describe("watching", () => {
  it("ends when the client leaves, and when the server stops, without delaying the stop", async () => {
    const buyer = await customer();
    const { id } = await createAt(one, buyer);
    const leaving = new AbortController();
    const left = billingOf(one).watchTopUp({ topUpId: id }, { ...buyer, signal: leaving.signal });
    for await (const { topUp } of left) {
      expect(topUp?.state).toBe(TopUpState.PENDING);
      break;
    }
    const third = await startHere();
    const { states, ended } = watch(third, id, buyer);
    await expect.poll(() => states, { timeout: 10_000 }).toEqual([TopUpState.PENDING]);
    const stoppedAt = performance.now();
    await third.stop();
    await ended;
    // It drains for 30 s by default, which an endless stream would use up.
    expect(performance.now() - stoppedAt).toBeLessThan(20_000);
  });
});

describe("an operator's commands", () => {
  it("verify, give back and show the debt, each with a line that names the operator", async () => {
    const settings = { DATABASE_URL: setup.money.opened.url };
    const buyer = await customer();
    const { id, paymentUrl } = await createAt(one, buyer);
    await press(paymentUrl, "pay_silently");
    const verified = await saldoJson(["top-up", "verify", "--top-up", id], settings);
    expect(verified).toMatchObject({ topUpId: id, state: "paid", owed: "0" });
    await setup.spend(buyer.accountId, AMOUNT);
    const refunded = await saldoJson(["top-up", "refund", "--top-up", id, "--amount", "5000"], settings);
    expect(refunded).toMatchObject({ state: "partially_refunded", givenBack: "5000", owed: "5000" });
    const taken = await saldoJson(["top-up", "charge-back", "--top-up", id], settings);
    expect(taken).toMatchObject({ state: "charged_back", givenBack: String(RUPIAH), owed: String(RUPIAH) });
    const listed = await saldoJson(["top-up", "list", "--attention", "--account", buyer.accountId], settings);
    expect(listed["topUps"]).toMatchObject([{ topUpId: id, owed: String(RUPIAH) }]);
    const { balance } = await billingOf(one).getBalance({}, buyer);
    expect(balance).toMatchObject({ available: "0", owed: String(RUPIAH) });
    const { rows } = await setup.money.pool.query<{ action: string }>(
      "SELECT action FROM operator_action WHERE subject = $1 ORDER BY id",
      [id],
    );
    expect(rows.map(({ action }) => action)).toEqual(["top-up verify", "top-up refund", "top-up charge-back"]);
  });
});

describe("a process that dies between keeping a notification and answering it", () => {
  it("leaves one credit, by a living process, however often the provider sends it again", async () => {
    const { midtrans } = setup.fake;
    const settings = {
      SALDO_PAYMENT_PROVIDER: "midtrans",
      MIDTRANS_SERVER_KEY: MIDTRANS_KEY,
      MIDTRANS_SNAP_URL: midtrans.snapUrl,
      MIDTRANS_API_URL: midtrans.apiUrl,
    };
    const dying = await startProcess({ ...settings, SALDO_FAILPOINT: "mid-webhook" });
    const buyer = await customer();
    const { id, provider } = await createAt(dying, buyer);
    expect(provider).toBe("midtrans");
    setup.fake.set(id, { status: "paid" });
    const notification = setup.fake.midtransNotification(id);
    const send = (saldo: Served): Promise<number> =>
      fetch(`${saldo.httpUrl}/webhooks/payments/midtrans`, { method: "POST", ...notification }).then(
        ({ status }) => status,
      );
    await expect(send(dying)).rejects.toThrow();
    await dying.untilEnd();
    expect(await dying.stop()).toBeNull();
    expect(await setup.findingsOf(id)).toEqual(["as_ordered"]);

    const next = await startHere(settings);
    expect(await Promise.all([send(next), send(next), send(next)])).toEqual([200, 200, 200]);
    await expect.poll(() => setup.creditsOf(id), { timeout: 20_000 }).toBe(1);
    expect(await send(next)).toBe(200);
    expect(await setup.findingsOf(id)).toEqual(["as_ordered"]);
    expect(await setup.standing(buyer.accountId)).toEqual({ available: RUPIAH, owed: 0 });
    const logged = JSON.stringify([...dying.log, ...next.log]);
    expect(logged).not.toContain(MIDTRANS_KEY);
  });

  it("50 copies of one notification, sent to two processes at once, are one credit", async () => {
    const buyer = await customer();
    const { id, paymentUrl } = await createAt(one, buyer);
    await press(paymentUrl, "pay_silently");
    const { body, headers } = await setup.sandboxNotification(id);
    const send = (saldo: Served): Promise<number> =>
      fetch(`${saldo.httpUrl}/webhooks/payments/sandbox`, { method: "POST", headers, body }).then(
        ({ status }) => status,
      );
    const statuses = await Promise.all(Array.from({ length: 50 }, (_, copy) => send(copy % 2 === 0 ? one : other)));
    expect(statuses).toEqual(statuses.map(() => 200));
    await expect.poll(() => setup.creditsOf(id), { timeout: 20_000 }).toBe(1);
    expect(await setup.findingsOf(id)).toEqual(["as_ordered"]);
    expect(await setup.standing(buyer.accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });
});
