import { SECRET_COLUMNS } from "../app/compose/secrets.ts";
import { rotateSecrets } from "../database/secrets/rotate-secrets.ts";
import { claimSecretsKey } from "../database/secrets/secret-state.ts";
import { hasSecretsKey, type SealedForm } from "../kernel/sealed-text.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { type Command, type CommandContext, type CommandResult, type CommandValues, UsageError } from "./command.ts";
import { inEach, openAll, perCell } from "./every-cell.ts";
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

async function rotate(values: CommandValues, context: CommandContext): Promise<CommandResult> {
  const form = values.has("former-form") ? "former" : "envelope";
  // The former key is taken away behind this command: a cell that was left out could not be opened any more.
  await openAll(context);
  if (!hasSecretsKey()) throw new UsageError("saldo secrets rotate: needs SALDO_SECRETS_KEY.");
  // With other keys than those of the databases, nothing is changed.
  await inEach(context, async ({ database }) => claimSecretsKey((await database()).pool, SECRET_COLUMNS));
  const done = await inEach(context, ({ database }) => rotateOne(database, form));
  const sum = (of: (outcome: Rotated) => number): number => done.reduce((all, { outcome }) => all + of(outcome), 0);
  const counts = {
    rewrapped: sum(({ rewrapped }) => rewrapped),
    encrypted: sum(({ encrypted }) => encrypted),
    left: sum(({ left }) => left),
  };
  const unreadable = done.flatMap(({ outcome }) => outcome.unreadable);
  return { json: { form, ...counts, unreadable, ...perCell(done) }, ok: unreadable.length === 0 && counts.left === 0 };
}

type Rotated = Awaited<ReturnType<typeof rotateSecrets>>;

async function rotateOne(database: CommandContext["database"], form: SealedForm): Promise<Rotated> {
  const rotated = await rotateSecrets((await database()).pool, SECRET_COLUMNS, { form });
  const { unreadable, ...counts } = rotated;
  return withAuditLog(
    await operatorHere(database),
    () => Promise.resolve(rotated),
    () => ({
      action: "secrets rotate",
      subject: null,
      reason: null,
      facts: { form, ...counts, unreadable: unreadable.length },
      inAccount: null,
    }),
  );
}
