import { doAndRecord } from "../accounts/operator-actions.ts";
import type { ServiceToken } from "../accounts/service-token-store.ts";
import { issueServiceToken, listServiceTokens, orderTokenRevocation } from "../accounts/service-tokens.ts";
import { type Command, UsageError } from "./command.ts";
import { orderedHere } from "./operator.ts";
import { uuidOption } from "./option-values.ts";

export const serviceTokenCommands: readonly Command[] = [
  {
    name: "service-token create",
    about:
      "Issues a token of an internal service, for one account or for whichever a call names. It is shown here only.",
    options: {
      account: { required: false, value: "ID", about: "the account it acts for" },
      all: { required: false, value: null, about: "it acts for the account that a call names" },
      name: { required: false, value: "N", about: "a name to tell tokens apart; service" },
    },
    async run(values, { database }) {
      const account = values.get("account");
      if ((account === undefined) !== values.has("all"))
        throw new UsageError("service-token create needs --account ID or --all");
      const accountId = account === undefined ? null : uuidOption(account, "account");
      const name = values.get("name") ?? "service";
      const { token, secret } = await doAndRecord(
        await orderedHere(database),
        (client) => issueServiceToken(client, { accountId, name }),
        (issued) => ({ action: "service-token create", subject: issued.token.tokenId, reason: null, facts: { name } }),
      );
      return { json: { tokenId: token.tokenId, token: secret } };
    },
  },
  {
    name: "service-token list",
    about: "Lists the tokens of internal services, newest first, revoked ones included.",
    options: {},
    async run(_values, { database }) {
      const tokens = await listServiceTokens(await database());
      return { json: { tokens: tokens.map(toJson) }, text: tokens.map(lineOf).join("\n") };
    },
  },
  {
    name: "service-token revoke",
    about: "Revokes a token for good; every process refuses it within five seconds.",
    options: { "token-id": { required: true, value: "ID", about: "the token" } },
    async run(values, { database }) {
      const tokenId = uuidOption(values.need("token-id"), "token-id");
      const { revokedAt } = await orderTokenRevocation(await orderedHere(database), tokenId);
      return { json: { tokenId, revokedAt: revokedAt?.toISOString() ?? null } };
    },
  },
];

function toJson({ createdAt, revokedAt, ...token }: ServiceToken): Record<string, unknown> {
  return { ...token, createdAt: createdAt.toISOString(), revokedAt: revokedAt?.toISOString() ?? null };
}

function lineOf({ tokenId, name, prefix, lastFour, accountId, revokedAt }: ServiceToken): string {
  const state = revokedAt === null ? "works" : `revoked ${revokedAt.toISOString()}`;
  return `${tokenId}  ${prefix}…${lastFour}  ${accountId ?? "all accounts"}  ${state}  ${name}`;
}
