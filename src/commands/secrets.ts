import { SECRET_COLUMNS } from "../app/compose/secrets.ts";
import { rotateSecrets } from "../database/secrets/rotate-secrets.ts";
import { claimSecretsKey } from "../database/secrets/secret-state.ts";
import { hasSecretsKey } from "../kernel/sealed-text.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { type Command, type CommandContext, type CommandResult, type CommandValues, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

export const secretCommands: readonly Command[] = [
  {
    name: "secrets rotate",
    about:
      "Encrypts the secrets in the database under the first key of SALDO_SECRETS_KEY. The service may run. One that was stopped is run again.",
    options: {
      "former-form": {
        required: false,
        value: null,
        about: "stores them as Saldo 0.2.0 reads them, before going back to it",
      },
    },
    run: rotate,
  },
  {
    name: "secrets encrypt",
    about: "The same as secrets rotate, under its former name.",
    options: {},
    run: rotate,
  },
];

async function rotate(values: CommandValues, { database }: CommandContext): Promise<CommandResult> {
  const opened = await database();
  if (!hasSecretsKey()) throw new UsageError("saldo secrets rotate: needs SALDO_SECRETS_KEY.");
  // With other keys than those of the database, nothing is changed.
  await claimSecretsKey(opened.pool, SECRET_COLUMNS);
  const form = values.has("former-form") ? "former" : "envelope";
  const { unreadable, ...counts } = await rotateSecrets(opened.pool, SECRET_COLUMNS, { form });
  const json = { form, ...counts, unreadable };
  await withAuditLog(
    await operatorHere(database),
    () => Promise.resolve(json),
    () => ({
      action: "secrets rotate",
      subject: null,
      reason: null,
      facts: { form, ...counts, unreadable: unreadable.length },
      inAccount: null,
    }),
  );
  return { json, ok: unreadable.length === 0 && counts.left === 0 };
}
