import { type ApiKey, MAX_RATE_LIMIT } from "../keys/api-key.ts";
import { getKey, listKeys, MAX_PAGE_SIZE } from "../keys/issued-keys.ts";
import { NO_LIMITS } from "../keys/key-limits.ts";
import { idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { issueKey, revokeKey, updateKey } from "../operator/commands/keys.ts";
import type { Command, CommandValues } from "./command.ts";
import { hasLimits, keyFacts, limitOptions, limitsFrom } from "./key-limits.ts";
import type { Database } from "../database/database.ts";
import { operatorHere } from "./operator-here.ts";
import { integerOption, uuidOption } from "./option-values.ts";
import { column, numbers, tableOf } from "./table.ts";
import { accountFrom, accountOption } from "./which-account.ts";

const KEY_COLUMNS = [
  column<ApiKey>("key", ({ keyId }) => keyId),
  column<ApiKey>("name", ({ name }) => name),
  column<ApiKey>("state", stateOf),
  column<ApiKey>("ends", ({ limits }) => limits.expiresAt),
  numbers<ApiKey>("requests a minute", ({ rateLimitBound }) => rateLimitBound),
  numbers<ApiKey>("tokens a minute", ({ limits }) => limits.tokenLimit),
  column<ApiKey>("period", ({ limits }) => limits.budget?.period ?? null),
  numbers<ApiKey>("budget", ({ limits }) => (limits.budget === null ? null : rupiahText(idr(limits.budget.amount)))),
  numbers<ApiKey>("spent", ({ budget }) => (budget === null ? null : rupiahText(idr(budget.spent)))),
  numbers<ApiKey>("left", ({ budget }) => (budget === null ? null : rupiahText(idr(budget.left)))),
  column<ApiKey>("models", ({ limits }) => limits.allowedModels?.join(",") ?? "all"),
  column<ApiKey>("networks", ({ limits }) => limits.allowedNetworks?.join(",") ?? "all"),
];

export const keyCommands: readonly Command[] = [
  {
    name: "key create",
    about: "Issues a key of an account. It is shown here and nowhere else.",
    options: {
      account: { ...accountOption, about: `${accountOption.about}; it pays` },
      name: { required: true, value: "N", about: "a name that shows which key it is" },
      "rate-limit": { required: false, value: "N", about: "requests in any 60 seconds, 0 for no limit; 60" },
      ...limitOptions,
    },
    async run(values, { database }) {
      const { keyId, secret } = await issueKey(await operatorHere(database), {
        accountId: await accountFrom(values, database),
        name: values.need("name"),
        ...rateLimitFrom(values),
        limits: limitsFrom(values, NO_LIMITS),
      });
      return { json: { keyId, key: secret } };
    },
  },
  {
    name: "key update",
    about: "Renames a key and sets what it may do. What is left out stays.",
    options: {
      "key-id": { required: true, value: "ID", about: "the key" },
      name: { required: false, value: "N", about: "a new name" },
      "rate-limit": { required: false, value: "N", about: "requests in any 60 seconds, 0 for no limit" },
      ...limitOptions,
    },
    async run(values, { database }) {
      const keyId = uuidOption(values.need("key-id"), "key-id");
      const present = await getKey(await database(), { keyId });
      const changed = await updateKey(await operatorHere(database), {
        accountId: present.accountId,
        keyId,
        name: values.get("name") ?? present.name,
        ...rateLimitFrom(values),
        // A key that has ended keeps its end where only its name is changed.
        ...(hasLimits(values) ? { limits: limitsFrom(values, present.limits) } : {}),
      });
      return { json: keyFacts(changed) };
    },
  },
  {
    name: "key list",
    about: "Lists the keys of an account, newest first, with their limits and what is left of their budgets.",
    options: { account: accountOption },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      const items = await allKeys(await database(), accountId);
      return { json: { keys: items.map(keyFacts) }, text: tableOf(items, KEY_COLUMNS, "The account has no key.") };
    },
  },
  {
    name: "key revoke",
    about: "Revokes a key for good; its next chat request is refused.",
    options: { "key-id": { required: true, value: "ID", about: "the key" } },
    async run(values, { database }) {
      const { keyId, revokedAt } = await revokeKey(await operatorHere(database), {
        keyId: uuidOption(values.need("key-id"), "key-id"),
      });
      return { json: { keyId, revokedAt: revokedAt?.toISOString() ?? null } };
    },
  },
];

function rateLimitFrom(values: CommandValues): { rateLimit?: number } {
  const text = values.get("rate-limit");
  return text === undefined ? {} : { rateLimit: integerOption(text, "rate-limit", { min: 0, max: MAX_RATE_LIMIT }) };
}

async function allKeys(database: Database, accountId: string): Promise<ApiKey[]> {
  const keys: ApiKey[] = [];
  let pageToken = "";
  do {
    const page = await listKeys(database, { accountId, pageSize: MAX_PAGE_SIZE, pageToken });
    keys.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return keys;
}

function stateOf({ revokedAt, limits: { expiresAt } }: ApiKey): string {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt.getTime() <= Date.now() ? "ended" : "works";
}
