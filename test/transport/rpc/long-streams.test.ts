// A stream lasts longer than the look at its caller's credentials: it ends when they work no more.

import { setTimeout } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { type Running, startServers } from "../fakes.ts";

/** Longer than a stream goes on without a look. */
const WHILE_MS = 5_200;
const id = uuidv7();
const revoked = new Set<string>();
let running: Running;
beforeAll(async () => {
  running = await startServers({
    implementations: {
      billing: {
        async *watchTopUp() {
          yield { topUp: { id, amount: "1" } };
          await setTimeout(WHILE_MS);
          yield { topUp: { id, amount: "2" } };
        },
      },
    },
    verifyServiceToken: async (secret) =>
      revoked.has(secret) ? null : { tokenId: id, accountId: "account-1", scopes: ["read"] },
  });
});
afterAll(() => running.servers.close(1_000));

/** Reads a stream to its end. Gives the amounts that came, and how it ended; `meanwhile` runs behind the first. */
async function read(secret: string, meanwhile: () => void): Promise<{ amounts: string[]; code: Code | null }> {
  const transport = createConnectTransport({ baseUrl: running.http, httpVersion: "1.1" });
  const headers = { authorization: `Bearer ${secret}` };
  const amounts: string[] = [];
  try {
    for await (const { topUp } of createClient(BillingService, transport).watchTopUp({ topUpId: id }, { headers })) {
      amounts.push(topUp?.amount ?? "");
      meanwhile();
    }
    return { amounts, code: null };
  } catch (error) {
    return { amounts, code: ConnectError.from(error).code };
  }
}

test("a service whose token is revoked reads no further", async () => {
  const ended = await read("st_revoked", () => revoked.add("st_revoked"));
  expect(ended).toEqual({ amounts: ["1"], code: Code.Unauthenticated });
});

test("a service whose token works reads to the end", async () => {
  expect(await read("st_works", () => undefined)).toEqual({ amounts: ["1", "2"], code: null });
});
