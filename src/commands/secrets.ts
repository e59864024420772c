import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { resealSigningSecret } from "../identity/signing-secret.ts";
import { resealCallbackSecrets } from "../merchant/callbacks/store.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

export const secretCommands: readonly Command[] = [
  {
    name: "secrets encrypt",
    about:
      "Encrypts the secrets in the database under the first key of SALDO_SECRETS_KEY: those in clear, and those under another of its keys. The service may run.",
    options: {},
    async run(_values, { config, database }) {
      if (config.secretsKeys.length === 0) throw new UsageError("saldo secrets encrypt: needs SALDO_SECRETS_KEY.");
      const changed = await withAuditLog(
        await operatorHere(database),
        async (client) => ({
          merchants: await resealCallbackSecrets(client),
          signingSecrets: await resealSigningSecret(client),
        }),
        (facts) => ({ action: "secrets encrypt", subject: null, reason: null, facts }),
      );
      return { json: changed };
    },
  },
];
