// The operators' services with all interceptors, on a database of its own, called by a signed-in operator.

import { ConnectError } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Client } from "pg";
import { type ErrorFacts, ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { createCustomer } from "../../src/identity/customers.ts";
import { listActions } from "../../src/operator/audit-log/operator-actions.ts";
import type { CatalogPresets } from "../../src/catalog/apply-catalog.ts";
import { selectTopUps } from "../../src/billing/top-ups/store.ts";
import type { TopUp } from "../../src/billing/top-ups/top-up.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { NotFound } from "../../src/kernel/errors.ts";
import type { ServersOptions } from "../../src/transport/server/servers.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import type { PayoutChain } from "../../src/merchant/chains/payout-chain.ts";
import { createSandboxChain } from "../../src/merchant/chains/sandbox/sandbox-chain.ts";
import { createOperatorServices, type OperatorServicesDependencies } from "../../src/operator/rpc/services.ts";
import { operatorOf } from "../../src/transport/calls/callers.ts";
import { createOperatorClient, type OperatorClient } from "../setup/operator-client.ts";
import { startServers } from "../transport/fakes.ts";
import { PROVED } from "../setup/proofs.ts";
import { createTestDatabase } from "../setup/test-database.ts";

export const OPERATOR = "ani@example.com";
export const SECOND = "budi@example.com";
const ACCOUNT = uuidv7();
const PERSON = {
  sessionId: uuidv7(),
  personId: uuidv7(),
  accountId: ACCOUNT,
  ownAccountId: ACCOUNT,
  role: "owner" as const,
  email: OPERATOR,
};

export type ServedOperator = Awaited<ReturnType<typeof serveOperator>>;

/**
 * Serves it. The cookies `operator` and `second` are operators', `member` another person's. Transfers are paid on the sandbox's
 * chain, or on others that are made of it.
 */
export async function serveOperator(
  presets: CatalogPresets & Pick<OperatorServicesDependencies, "secondPerson" | "dailyCaps"> = {},
  chainsOf: (sandbox: PayoutChain) => readonly PayoutChain[] = (sandbox) => [sandbox],
) {
  const opened = await createTestDatabase();
  const { database } = opened;
  const isSet = (variable: string): boolean => variable === "SET_API_KEY";
  // The providers and their answers belong to the tests of top-ups.
  const asked: string[] = [];
  let sellerMissing = false;
  const verifyNow = async (topUpId: string): Promise<TopUp> => {
    asked.push(topUpId);
    const [topUp] = await selectTopUps(database.pool, [topUpId]);
    if (topUp === undefined) throw new NotFound();
    return topUp;
  };
  const people: ServersOptions["people"] = {
    verifySession: async (cookies) =>
      /^(operator|second|member)$/.test(cookies)
        ? {
            ...PERSON,
            proof: PROVED,
            isOperator: cookies !== "member",
            ...(cookies === "second" ? { email: SECOND } : {}),
          }
        : null,
    accountExists: async () => true,
  };
  const running = await startServers({
    people,
    implementations: createOperatorServices({
      database,
      operatorOf,
      isSet,
      verifyNow,
      isSellerMissing: () => Promise.resolve(sellerMissing),
      payoutChains: chainsOf(createSandboxChain(database, systemClock)),
      ...presets,
    }),
  });
  const as = (cookie: string): OperatorClient =>
    createOperatorClient(
      createConnectTransport({
        baseUrl: running.http,
        httpVersion: "1.1",
        interceptors: [
          (next) => (req) => {
            req.header.set("cookie", cookie);
            req.header.set("origin", running.http);
            return next(req);
          },
        ],
      }),
    );
  return {
    database,
    /** Lets receipts wait for a seller, or not. */
    missSeller: (isMissing: boolean): void => void (sellerMissing = isMissing),
    /** The verified top-ups. */
    asked,
    operator: as("operator"),
    second: as("second"),
    member: as("member"),
    grpc: createOperatorClient(createGrpcTransport({ baseUrl: `http://${running.grpc}` })),

    /** The number of actions, and the newest one. */
    async actions() {
      const actions = await listActions(database.pool, { limit: 1_000 });
      return { count: actions.length, newest: actions[0] };
    },

    /** The actions on a subject, with operator and reason, newest first. */
    async linesOf(subject: string) {
      const actions = await listActions(database.pool, { filter: { subject }, limit: 10 });
      return actions.map(({ operator, action, reason }) => ({ operator, action, reason }));
    },

    async newCustomer(email = `${uuidv7()}@test.example`): Promise<string> {
      const { accountId } = await withTransaction(database, (client) => createCustomer(client, { email, openAccount }));
      return accountId;
    },

    /** Runs statements as the owner of the database, in one session. */
    async asOwner(statements: string): Promise<void> {
      const owner = new Client(opened.url);
      await owner.connect();
      await owner.query(statements);
      await owner.end();
    },

    async stop(): Promise<void> {
      await running.servers.close(1_000);
      await opened.drop();
    },
  };
}

/** The facts of the error that ends a call. */
export async function refusal(call: Promise<unknown>): Promise<{ code: string; rules: string[] }> {
  const { code, details } = await factsOfRefused(call);
  return { code, rules: details.map(({ field, rule }) => `${field} ${rule}`) };
}

/** The server's message about each field of a refused call. */
export async function refusedTexts(call: Promise<unknown>): Promise<string[]> {
  return (await factsOfRefused(call)).details.map(({ message }) => message);
}

async function factsOfRefused(call: Promise<unknown>): Promise<ErrorFacts> {
  try {
    await call;
  } catch (error) {
    const [facts] = ConnectError.from(error).findDetails(ErrorFactsSchema);
    if (facts === undefined) throw error;
    return facts;
  }
  throw new Error("the call was not refused");
}
