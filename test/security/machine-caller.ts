// One call of any method with the credentials of a machine, and how it was answered.

import type { DescMethod } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { issueServiceToken, type ServiceTokenRequest } from "../../src/identity/service-tokens.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { issuePair } from "../../src/merchant/merchants/credentials.ts";
import type { ServedSaldo } from "../app/clients/served-saldo.ts";
import { expect } from "vitest";

/** Credentials as they go on the wire, and the id of their row. */
export type MachineCredentials = { readonly id: string; readonly authorization: string };

/** What a test asks of the served service. */
export function machinesOf({ database, server }: ServedSaldo) {
  const transport = createConnectTransport({ baseUrl: server.httpUrl, httpVersion: "1.1" });

  /** Calls a method and gives its answer. */
  async function ask(method: DescMethod, { authorization }: MachineCredentials, request: object): Promise<unknown> {
    const client = createClient(method.parent, transport) as Record<string, (...args: unknown[]) => unknown>;
    const answer = client[method.localName]?.(request, { headers: { authorization }, timeoutMs: 30_000 });
    if (method.methodKind !== "server_streaming") return answer;
    return Array.fromAsync(answer as AsyncIterable<unknown>);
  }

  return {
    ask,

    /** The code of the refusal. A method that only refuses the request itself was reached. */
    async outcome(method: DescMethod, credentials: MachineCredentials, request: object = {}): Promise<string> {
      try {
        await ask(method, credentials, request);
        return "reached";
      } catch (thrown) {
        const { code = "", requestId } = ConnectError.from(thrown).findDetails(ErrorFactsSchema)[0] ?? {};
        // An error without facts came from no rule of ours, such as a failed connection.
        expect([method.name, code, requestId]).toEqual([method.name, expect.stringMatching(/./), expect.anything()]);
        if (code === "invalid_api_key" || code === "invalid_credentials") return "not known";
        return ["validation_error", "not_found", "insufficient_balance"].includes(code) ? "reached" : code;
      }
    },

    async newToken(accountId: string, order: Pick<ServiceTokenRequest, "scopes">): Promise<MachineCredentials> {
      const { token, secret } = await issueServiceToken(database.pool, { accountId, name: "walks", ...order });
      return { id: token.tokenId, authorization: `Bearer ${secret}` };
    },

    async newKey(accountId: string, rateLimit: number): Promise<MachineCredentials> {
      const { keyId, secret } = await issueKey(database, { accountId, name: "walks", rateLimit });
      return { id: keyId, authorization: `Bearer ${secret}` };
    },

    async newPair(merchantId: string): Promise<MachineCredentials> {
      const { pairId, apiKey, secretKey } = await issuePair(database.pool, merchantId);
      return { id: pairId, authorization: `Basic ${btoa(`${apiKey}:${secretKey}`)}` };
    },
  };
}
