// A body that arrives slowly: the caller is decided on again when it is complete, before anything is done.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SignedInPerson } from "../../../src/identity/people.ts";
import type { MerchantPrincipal } from "../../../src/identity/principal.ts";
import { type Running, SANDBOX_PAIR, startServers } from "../fakes.ts";
import { RawConnection } from "../raw-http.ts";

/** Longer than a body may take without a second look. */
const SLOW_MS = 150;

const SOMEBODY: SignedInPerson = {
  sessionId: "session-1",
  personId: "person-1",
  email: "somebody@saldo.example",
  isOperator: false,
  ownAccountId: "account-1",
  accountId: "account-2",
  role: "admin",
  proof: { mustHaveFactor: false, hasFactor: true, isFactorProved: true, isRecent: true },
};
const PAIR: MerchantPrincipal = {
  kind: "merchant",
  merchantId: "merchant-1",
  pairId: "pair-1",
  environment: "sandbox",
};

let running: Running;
let person: SignedInPerson | null = SOMEBODY;
let pair: MerchantPrincipal | null = PAIR;
let looks = 0;
let lookMs = 0;
const done: string[] = [];
beforeAll(async () => {
  running = await startServers({
    people: {
      verifySession: async () => {
        looks += 1;
        await sleep(lookMs);
        return person;
      },
      accountExists: async () => false,
    },
    verifyMerchant: async () => ((looks += 1), pair),
    implementations: {
      keys: { createKey: ({ name }) => (done.push(name), {}) },
      merchantTransfer: {
        createTransfer: ({ externalId }) => (
          done.push(externalId),
          { transfer: { id: "1", externalId, amount: "1", totalAmount: "1", fee: "0", receivedAmount: "1" } }
        ),
      },
    },
  });
});
afterAll(() => running.servers.close(1_000));
beforeEach(() => {
  [person, pair, looks, lookMs] = [SOMEBODY, PAIR, 0, 0];
  done.length = 0;
});

/** Sends a body in two parts, and does something between them when the caller is known. */
async function slowly(head: readonly string[], body: string, between: () => void): Promise<number> {
  const connection = new RawConnection(running);
  const lines = [...head, `host: ${new URL(running.http).host}`, `content-length: ${body.length}`, "", ""];
  await connection.send(lines.join("\r\n") + body.slice(0, 5));
  await expect.poll(() => looks).toBe(1);
  between();
  await sleep(SLOW_MS);
  await connection.send(body.slice(5));
  const status = await connection.status();
  connection.close();
  return status;
}

const createKey = (between: () => void) =>
  slowly(
    [
      "POST /saldo.keys.v1.KeysService/CreateKey HTTP/1.1",
      "content-type: application/json",
      "connect-protocol-version: 1",
      "cookie: saldo_session=a.b",
      `origin: ${running.http}`,
    ],
    '{"name":"slow"}',
    between,
  );

describe("a person whose call has a slow body", () => {
  test("is let through where nothing has changed", async () => {
    expect(await createKey(() => {})).toBe(200);
    expect([done, looks]).toEqual([["slow"], 2]);
  });

  test.each<[string, SignedInPerson | null, number]>([
    ["was removed from the account", { ...SOMEBODY, role: null }, 403],
    ["has a role that may not", { ...SOMEBODY, role: "viewer" }, 403],
    ["is signed out", null, 401],
    ["acts for another account now", { ...SOMEBODY, accountId: "account-1" }, 401],
  ])("is refused where the person %s meanwhile", async (_what, now, status) => {
    expect(await createKey(() => (person = now))).toBe(status);
    expect(done).toEqual([]);
  });
});

test("a person is looked up once where the database is slow, and the body is there", async () => {
  lookMs = 3 * SLOW_MS;
  const headers = { "content-type": "application/json", "connect-protocol-version": "1", cookie: "saldo_session=a.b" };
  const url = `${running.http}/saldo.keys.v1.KeysService/CreateKey`;
  const { status } = await fetch(url, {
    method: "POST",
    headers: { ...headers, origin: running.http },
    body: '{"name":"quick"}',
  });
  expect([status, done, looks]).toEqual([200, ["quick"], 1]);
});

test("a merchant whose pair is revoked while the body of a REST call arrives is refused", async () => {
  const order =
    '{"externalId":"slow-1","amount":1,"currencyCode":"USDT","address":"0x0000000000000000000000000000000000000001"}';
  const head = [
    "POST /sandbox/v1/merchant-transfers/create HTTP/1.1",
    "content-type: application/json",
    `authorization: ${SANDBOX_PAIR}`,
  ];
  expect(await slowly(head, order, () => (pair = null))).toBe(401);
  expect(done).toEqual([]);
});
