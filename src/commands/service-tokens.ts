import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import type { ServiceToken } from "../identity/service-token-store.ts";
import { TOKEN_SCOPES } from "../identity/principal.ts";
import {
  issueServiceToken,
  lineOfNewToken,
  listServiceTokens,
  MAX_TOKEN_DAYS,
  revokeServiceToken,
  TOKEN_DAYS,
} from "../identity/service-tokens.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { choiceOption, integerOption, uuidOption } from "./option-values.ts";
import { column, tableOf } from "./table.ts";
import { anyAccountFrom, anyAccountOption } from "./which-account.ts";

const TOKEN_COLUMNS = [
  column<ServiceToken>("token", ({ tokenId }) => tokenId),
  column<ServiceToken>("name", ({ name }) => name),
  column<ServiceToken>("shown as", ({ prefix, lastFour }) => `${prefix}…${lastFour}`),
  column<ServiceToken>("account", ({ accountId }) => accountId ?? "all accounts"),
  column<ServiceToken>("scopes", ({ scopes }) => scopes.join(",")),
  column<ServiceToken>("state", stateOf),
  column<ServiceToken>("last used", ({ lastUsedAt }) => lastUsedAt ?? "never"),
];

export const serviceTokenCommands: readonly Command[] = [
  {
    name: "service-token create",
    about:
      "Issues a token of an internal service, for one account or for the one that each call names. It is shown here only.",
    options: {
      account: { ...anyAccountOption, about: "the account it acts for: its id or e-mail address" },
      all: { required: false, value: null, about: "it acts for the account that a call names" },
      name: { required: false, value: "N", about: "a name that shows which token it is; service" },
      scope: {
        required: false,
        value: "S,S",
        about: `what it may do, of ${TOKEN_SCOPES.join(", ")} (transfers also issues the credentials that order them); read`,
        choices: TOKEN_SCOPES,
      },
      expires: { required: false, value: "DAYS", about: `how long it works, at most ${MAX_TOKEN_DAYS}; ${TOKEN_DAYS}` },
    },
    async run(values, { database }) {
      if ((values.get("account") === undefined) !== values.has("all"))
        throw new UsageError("service-token create needs --account ID or --all");
      const accountId = await anyAccountFrom(values, database);
      const name = values.get("name") ?? "service";
      const scopes = (values.get("scope") ?? "read")
        .split(",")
        .map((each) => choiceOption(each, "scope", TOKEN_SCOPES));
      const expires = values.get("expires");
      const days =
        expires === undefined ? TOKEN_DAYS : integerOption(expires, "expires", { min: 1, max: MAX_TOKEN_DAYS });
      const { token, secret } = await withAuditLog(
        await operatorHere(database),
        (client) => issueServiceToken(client, { accountId, name, scopes, days }),
        lineOfNewToken,
      );
      const { tokenId, expiresAt } = token;
      return { json: { tokenId, token: secret, scopes: scopes.join(","), expiresAt: expiresAt.toISOString() } };
    },
  },
  {
    name: "service-token list",
    about: "Lists the tokens of internal services, newest first, with what each may do, when it ends and its last use.",
    options: {},
    async run(_values, { database }) {
      const tokens = await listServiceTokens(await database());
      return { json: { tokens: tokens.map(toJson) }, text: tableOf(tokens, TOKEN_COLUMNS, "There is no token.") };
    },
  },
  {
    name: "service-token revoke",
    about: "Revokes a token for good; no process takes a call of it afterwards.",
    options: { "token-id": { required: true, value: "ID", about: "the token" } },
    async run(values, { database }) {
      const tokenId = uuidOption(values.need("token-id"), "token-id");
      const { revokedAt } = await revokeServiceToken(await operatorHere(database), tokenId);
      return { json: { tokenId, revokedAt: revokedAt?.toISOString() ?? null } };
    },
  },
];

function toJson({ createdAt, expiresAt, lastUsedAt, revokedAt, ...token }: ServiceToken): Record<string, unknown> {
  return {
    ...token,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

function stateOf({ expiresAt, revokedAt }: ServiceToken): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  return `${expiresAt.getTime() <= Date.now() ? "EXPIRED" : "works until"} ${expiresAt.toISOString()}`;
}
