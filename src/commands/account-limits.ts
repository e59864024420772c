import {
  type AccountLimits,
  type ChangedLimits,
  freezeAccount,
  limitOpenRequests,
  recountOpenRequests,
  unfreezeAccount,
} from "../ledger/account-limits.ts";
import type { PoolClient } from "pg";
import type { Command, CommandContext, CommandValues } from "./command.ts";
import { doAndRecord } from "./operator.ts";
import { integerOption, uuidOption } from "./option-values.ts";

const MAX_OPEN_REQUESTS = 1_000_000;
const account = { required: true, value: "ID", about: "the account" };
const reason = { required: false, value: "R", about: "why" };

export const accountLimitCommands: readonly Command[] = [
  {
    name: "account freeze",
    about: "Admits none of an account's chat requests any more; what is running is finished and billed.",
    options: { account, reason },
    run: (values, context) => changeLimits({ action: "account freeze", values, context }, freezeAccount),
  },
  {
    name: "account unfreeze",
    about: "Admits an account's chat requests again.",
    options: { account, reason },
    run: (values, context) => changeLimits({ action: "account unfreeze", values, context }, unfreezeAccount),
  },
  {
    name: "account limit",
    about: "Bounds how many chat requests of an account run at once.",
    options: {
      account,
      "max-open-requests": { required: true, value: "N", about: "at most so many; 0 for no bound" },
      reason,
    },
    async run(values, context) {
      const most = integerOption(values.need("max-open-requests"), "max-open-requests", {
        min: 0,
        max: MAX_OPEN_REQUESTS,
      });
      return changeLimits(
        { action: "account limit", values, context, facts: { maxOpenRequests: most } },
        (client, accountId) => limitOpenRequests(client, { accountId, most }),
      );
    },
  },
  {
    name: "account recount",
    about:
      "Counts an account's open requests anew, where the audit finds that the count is not the number of its holds.",
    options: { account, reason },
    async run(values, context) {
      const accountId = uuidOption(values.need("account"), "account");
      const action = "account recount";
      const { was, ...limits } = await doAndRecord(
        await context.database(),
        (client) => recountOpenRequests(client, accountId),
        (done) =>
          done.isChanged
            ? {
                action,
                subject: accountId,
                reason: values.get("reason") ?? null,
                facts: { was: done.was, is: done.openRequests },
              }
            : null,
      );
      return { json: { accountId, was, ...toJson(limits) } };
    },
  },
];

type Change = {
  readonly action: string;
  readonly values: CommandValues;
  readonly context: CommandContext;
  readonly facts?: Readonly<Record<string, number>>;
};

async function changeLimits(
  { action, values, context, facts = {} }: Change,
  change: (client: PoolClient, accountId: string) => Promise<ChangedLimits>,
) {
  const accountId = uuidOption(values.need("account"), "account");
  const limits = await doAndRecord(
    await context.database(),
    (client) => change(client, accountId),
    ({ isChanged }) => (isChanged ? { action, subject: accountId, reason: values.get("reason") ?? null, facts } : null),
  );
  return { json: { accountId, ...toJson(limits) } };
}

/** The limits as a command tells them. */
export function toJson({ frozenAt, maxOpenRequests, openRequests }: AccountLimits) {
  return { frozenAt: frozenAt?.toISOString() ?? null, maxOpenRequests, openRequests };
}
