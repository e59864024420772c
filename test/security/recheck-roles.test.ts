// A stream of a person ends once the person has another role in the account, or acts for another one.

import type { StreamResponse } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BillingService, WatchTopUpResponseSchema } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { Principal, SessionPrincipal } from "../../src/identity/principal.ts";
import { setPrincipal } from "../../src/transport/calls/call.ts";
import { recheckCallers } from "../../src/transport/calls/recheck-callers.ts";

const PROVED = { mustHaveFactor: false, hasFactor: false, isFactorProved: false, isRecent: false };
const MEMBER: SessionPrincipal = {
  kind: "session",
  sessionId: "session-1",
  personId: "person-1",
  email: "ani@example.com",
  accountId: "account-1",
  ownAccountId: "account-2",
  role: "billing",
  proof: PROVED,
};

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** How many of three messages arrive, of which the last comes six seconds after the first. */
async function arriving(now: Principal): Promise<number> {
  const contextValues = createContextValues();
  setPrincipal({ values: contextValues }, MEMBER);
  const method = BillingService.method.watchTopUp;
  async function* messages() {
    yield create(WatchTopUpResponseSchema);
    yield create(WatchTopUpResponseSchema);
    vi.advanceTimersByTime(6_000);
    yield create(WatchTopUpResponseSchema);
  }
  const answer = { stream: true, message: messages() } as unknown as StreamResponse;
  const call = recheckCallers(async () => now)(async () => answer);
  const res = await call({ contextValues, method } as unknown as Parameters<typeof call>[0]);
  let count = 0;
  try {
    for await (const _ of res.message as AsyncIterable<unknown>) count += 1;
  } catch {
    return count;
  }
  return count;
}

test("it goes on while the role stays", async () => {
  expect(await arriving(MEMBER)).toBe(3);
});

test.each<[string, Principal]>([
  ["was removed", { ...MEMBER, role: null }],
  ["has another role", { ...MEMBER, role: "viewer" }],
  ["acts for another account", { ...MEMBER, accountId: "account-2", role: "owner" }],
  ["is signed out", { kind: "public" }],
])("it ends when the person %s", async (_name, now) => {
  expect(await arriving(now)).toBe(2);
});
