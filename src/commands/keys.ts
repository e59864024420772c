import { MAX_RATE_LIMIT } from "../keys/issue-key.ts";
import { issueKey, revokeKey } from "../operator/commands/keys.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { integerOption, uuidOption } from "./option-values.ts";

export const keyCommands: readonly Command[] = [
  {
    name: "key create",
    about: "Issues a key of an account. It is shown here and nowhere else.",
    options: {
      account: { required: true, value: "ID", about: "the account that pays" },
      name: { required: true, value: "N", about: "a name that shows which key it is" },
      "rate-limit": { required: false, value: "N", about: "requests in any 60 seconds, 0 for no limit; 60" },
    },
    async run(values, { database }) {
      const rateLimit = values.get("rate-limit");
      const { keyId, secret } = await issueKey(await operatorHere(database), {
        accountId: uuidOption(values.need("account"), "account"),
        name: values.need("name"),
        ...(rateLimit === undefined
          ? {}
          : { rateLimit: integerOption(rateLimit, "rate-limit", { min: 0, max: MAX_RATE_LIMIT }) }),
      });
      return { json: { keyId, key: secret } };
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
