// The rooms behind transport/calls/ and transport/rest/, as small as a test needs them: one key, one pair per environment, no database.

import { CHAT_FORMAT } from "../../src/gateway/formats/chat/chat-format.ts";
import { createCountWindows } from "../../src/gateway/conversation/count-window.ts";
import { randomUUID } from "node:crypto";
import type { Gateway } from "../../src/gateway/chat.ts";
import { NotFound, RateLimited } from "../../src/kernel/errors.ts";
import type { RateState } from "../../src/kernel/rate.ts";
import type { Keys } from "../../src/keys/keys.ts";
import { createServers, type Servers, type ServersOptions } from "../../src/transport/server/servers.ts";
import type { CallLogger } from "../../src/transport/calls/log.ts";
import { principalOf } from "../../src/transport/calls/call.ts";
import { allowProblems } from "../setup/answers/problems.ts";

export const SECRET = "gw_test";
/** The secret of a key that is not in memory yet: it has to be looked up. */
export const UNREAD_SECRET = "gw_unread";
const KEY = { keyId: "key-1", accountId: "account-1", rateLimit: 60 };
export const BEARER = `Bearer ${SECRET}`;
export const PRODUCTION_PAIR = `Basic ${btoa("mk_live:sk_live:with:colons")}`;
export const SANDBOX_PAIR = `Basic ${btoa("mk_test_a:sk_test_b")}`;
export const TRANSFER_ID = "0190c1f2-0000-7000-8000-000000000001";

export const RATE: RateState = { limit: 60, remaining: 41, resetSeconds: 23 };

/** Keeps log lines instead of writing them. */
export function createLogMemory() {
  const lines: Record<string, unknown>[] = [];
  const note = (line: unknown) => void lines.push(line as Record<string, unknown>);
  return { lines, logger: { info: note, warn: note, error: note } as unknown as CallLogger };
}

export function createKeys(): Pick<Keys, "verify" | "known" | "takeSlot" | "refuseWhileLimited"> & {
  slots: number;
  full: boolean;
} {
  return {
    slots: 0,
    full: false,
    verify: async (secret) => (secret === SECRET || secret === UNREAD_SECRET ? KEY : null),
    known: (secret) => (secret === SECRET ? KEY : undefined),
    async takeSlot() {
      if (this.full) throw new RateLimited({ retryAfterSeconds: 17, limit: 60 });
      this.slots += 1;
      return RATE;
    },
    refuseWhileLimited() {
      if (this.full) throw new RateLimited({ retryAfterSeconds: 17, limit: 60 });
    },
  };
}

const model = (id: string) => ({
  id,
  object: "model",
  created: 1_700_000_000,
  ownedBy: "acme",
  name: "Acme",
  architecture: { inputModalities: ["text"] },
  pricing: { currency: "IDR", unit: "per_1m_tokens", input: "5000", output: "15000" },
});

/** Services that answer without a database. `GetBalance` is missing on purpose. */
export const implementations: ServersOptions["implementations"] = {
  gateway: {
    listModels: () => ({ object: "list", data: [model("acme/large")] }),
    getModel: ({ id }) => {
      if (id === "broken") throw new TypeError("secret internals");
      return { model: model(id) };
    },
    async *streamChatCompletion(request, { signal }) {
      for (let i = 0; i < 3; i += 1) yield { id: `chatcmpl-${i}`, model: request.model };
      if (request.model === "endless") await new Promise((_, reject) => signal.addEventListener("abort", reject));
      if (request.model === "half") throw new NotFound("Gone: nothing, here.");
    },
  },
  merchantTransfer: {
    calculateTransfer: ({ amount, currencyCode }, context) => {
      const principal = principalOf(context);
      return {
        quote: {
          currencyCode,
          network: principal.kind === "merchant" ? principal.environment : "",
          receivedAmount: amount,
          fee: "0.10000000000000000000000001",
          totalAmount: amount,
        },
      };
    },
    getTransfer: ({ id }) => {
      if (id !== TRANSFER_ID) throw new NotFound();
      return { transfer: { id, amount: "1", totalAmount: "1", fee: "0", receivedAmount: "1" } };
    },
    createTransfer: ({ externalId }, { responseHeader }) => {
      responseHeader.set("x-saldo-replayed", "true");
      return {
        transfer: { id: randomUUID(), externalId, amount: "1", totalAmount: "1", fee: "0", receivedAmount: "1" },
      };
    },
    cancelTransfer: ({ id }) => ({
      transfer: { id, status: "CANCELED", amount: "1", totalAmount: "1", fee: "0", receivedAmount: "1" },
    }),
    listTransfers: ({ page, perPage }) => ({ transfers: [], page, perPage, totalData: 0, totalPage: 0 }),
  },
};

export const echoGateway: Gateway = {
  async answerChat({ body }, sink) {
    sink.answer({ rate: RATE, demo: true, origin: "demo" }, { json: body, format: CHAT_FORMAT, costIdr: "0.01875" });
    return "answered";
  },
};

export type Running = {
  http: string;
  grpc: string;
  servers: Servers;
  keys: ReturnType<typeof createKeys>;
};

/** Starts the servers over the fakes on free ports. */
export async function startServers(options: Partial<ServersOptions> = {}): Promise<Running> {
  // The gateway of a test answers with any bytes, and some services are missing.
  allowProblems(/^POST \/v1\/(chat\/completions|embeddings)\/? 200|: the status 404 is not documented$/);
  const keys = createKeys();
  const servers = createServers({
    implementations,
    gateway: echoGateway,
    keys,
    verifyMerchant: async ({ apiKey, secretKey }) => {
      if (apiKey === "mk_live" && secretKey === "sk_live:with:colons") {
        return { kind: "merchant", merchantId: "merchant-1", pairId: "pair-1", environment: "production" };
      }
      return apiKey === "mk_test_a" && secretKey === "sk_test_b"
        ? { kind: "merchant", merchantId: "merchant-1", pairId: "pair-1", environment: "sandbox" }
        : null;
    },
    verifyServiceToken: async () => null,
    people: { verifySession: async () => null, accountExists: async () => false },
    signIn: { answer: async () => ({ status: 200, headers: [], body: "null" }) },
    trustedProxies: 0,
    publicUrl: null,
    ready: async () => true,
    agentsPackage: async () => Buffer.from("a package"),
    recordCall: async () => undefined,
    takeCallerSlot: async () => undefined,
    ...createCountWindows(),
    dashboard: null,
    logger: createLogMemory().logger,
    host: "127.0.0.1",
    ports: { http: 0, grpc: 0 },
    ...options,
  });
  const { httpPort, grpcPort } = await servers.listen();
  return {
    http: `http://127.0.0.1:${httpPort}`,
    grpc: `127.0.0.1:${grpcPort}`,
    servers,
    keys,
  };
}
