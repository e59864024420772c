import { createTopUpParts, type TopUpParts } from "../app/compose/top-ups.ts";
import { baseUrlOf } from "../app/compose/announcement.ts";
import { troubleOf } from "../billing/top-ups/disputes.ts";
import { findTopUps, listUnknownPayments, type UnknownPayment } from "../billing/top-ups/find-top-ups.ts";
import type { TopUp } from "../billing/top-ups/top-up.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { postProviderFee, returnSandboxPayment, verifyTopUp } from "../operator/commands/top-ups.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { amountOption, integerOption, uuidOption } from "./option-values.ts";
import { type Column, column, numbers, tableOf } from "./table.ts";
import { anyAccountFrom, anyAccountOption } from "./which-account.ts";

const DEFAULT_LIMIT = 50;
const topUpOption = { required: true, value: "ID", about: "the top-up" };

/** The columns of a table of such notifications. */
export const unknownPaymentColumns: readonly Column<UnknownPayment>[] = [
  column<UnknownPayment>("received", ({ receivedAt }) => receivedAt.toISOString()),
  column<UnknownPayment>("provider", ({ provider }) => provider),
  column<UnknownPayment>("order", ({ orderId }) => orderId),
  column<UnknownPayment>("status", ({ status }) => status),
  numbers<UnknownPayment>("amount", ({ amount }) => amount),
];

export const topUpCommands: readonly Command[] = [
  {
    name: "top-up list",
    about: "Lists top-ups, newest first; with --attention those that need a look or left a debt.",
    options: {
      account: anyAccountOption,
      attention: {
        required: false,
        value: null,
        about: "only those in review, with a problem, or with something owed",
      },
      limit: { required: false, value: "N", about: `how many at most; default ${DEFAULT_LIMIT}` },
    },
    async run(values, { database }) {
      const topUps = await findTopUps((await database()).pool, {
        filter: {
          accountId: await anyAccountFrom(values, database),
          provider: null,
          state: null,
          needsAttention: values.has("attention"),
        },
        beforeId: null,
        limit: integerOption(values.get("limit") ?? String(DEFAULT_LIMIT), "limit", { min: 1, max: 1_000 }),
      });
      const total = totalOf(topUps);
      const { amount, givenBack, owed } = total;
      const sums = {
        topUps: topUps.length,
        amount: formatMoney(idr(amount)),
        givenBack: formatMoney(idr(givenBack)),
        owed: formatMoney(idr(owed)),
      };
      return {
        json: { topUps: topUps.map(toJson), total: sums },
        text: tableOf(topUps, columnsOf(total), "No top-ups."),
      };
    },
  },
  {
    name: "top-up unknown",
    about:
      "Lists notifications of payments whose orders the books do not have, newest first. After a restore they may be paid.",
    options: { limit: { required: false, value: "N", about: `how many at most; default ${DEFAULT_LIMIT}` } },
    async run(values, { database }) {
      const limit = integerOption(values.get("limit") ?? String(DEFAULT_LIMIT), "limit", { min: 1, max: 1_000 });
      const payments = await listUnknownPayments((await database()).pool, limit);
      return { json: { payments }, text: tableOf(payments, unknownPaymentColumns, "No unknown payments.") };
    },
  },
  {
    name: "top-up verify",
    about: "Asks the payment provider about a top-up now, and credits it if it is paid.",
    options: { "top-up": topUpOption },
    run: (values, context) =>
      withParts(context, async ({ topUps }) => {
        const topUpId = uuidOption(values.need("top-up"), "top-up");
        const by = await operatorHere(context.database);
        return verifyTopUp(by, (id) => topUps.verifyNow(id), { topUpId, reason: null });
      }),
  },
  {
    name: "top-up fee",
    about:
      "Posts the payment provider's fee for a top-up from its statement, where neither its answers nor a setting have it.",
    options: {
      "top-up": topUpOption,
      amount: { required: true, value: "RUPIAH", about: "how much" },
      reference: { required: true, value: "REF", about: "names the fee; the same reference posts once, for ever" },
    },
    async run(values, { database }) {
      const { postingId } = await postProviderFee(await operatorHere(database), {
        topUpId: uuidOption(values.need("top-up"), "top-up"),
        amount: amountOption(values.need("amount")),
        reference: values.need("reference"),
      });
      return { json: { postingId } };
    },
  },
  {
    name: "top-up refund",
    about: "Gives back a sandbox payment, all that is left of it or a part.",
    options: { "top-up": topUpOption, amount: { required: false, value: "RUPIAH", about: "how much; default all" } },
    run: (values, context) => {
      const amount = values.get("amount");
      const repayment = { how: "refund", amount: amount === undefined ? null : amountOption(amount) } as const;
      return giveBack(context, { topUpId: uuidOption(values.need("top-up"), "top-up"), ...repayment });
    },
  },
  {
    name: "top-up charge-back",
    about: "Takes back a sandbox payment, as the payer's bank does.",
    options: { "top-up": topUpOption },
    run: (values, context) => {
      const topUpId = uuidOption(values.need("top-up"), "top-up");
      return giveBack(context, { topUpId, how: "charge-back", amount: null });
    },
  },
];

function giveBack(context: CommandContext, repayment: Parameters<typeof returnSandboxPayment>[2]) {
  return withParts(context, async ({ topUps, desk }) => {
    if (desk === null) throw new UsageError("There is no sandbox provider here.");
    return returnSandboxPayment(await operatorHere(context.database), { topUps, desk }, repayment);
  });
}

async function withParts({ config, database }: CommandContext, work: (parts: TopUpParts) => Promise<TopUp>) {
  const place = { baseUrl: () => baseUrlOf(config, config.httpPort), httpPort: () => config.httpPort };
  const quiet = { warn: () => {} };
  const parts = createTopUpParts({ config, database: await database(), logger: quiet }, place);
  try {
    return { json: toJson(await work(parts)) };
  } finally {
    await parts.close();
  }
}

type Total = Readonly<Record<"amount" | "givenBack" | "owed", bigint>>;

/** The sums of a list, in micro-rupiah. What was never paid is not in them. */
function totalOf(topUps: readonly TopUp[]): Total {
  const paid = topUps.filter(({ paidAt }) => paidAt !== null);
  const sum = (of: (topUp: TopUp) => bigint): bigint => paid.reduce((total, each) => total + of(each), 0n);
  return {
    amount: sum(({ amount }) => amount),
    givenBack: sum(({ givenBack }) => givenBack),
    owed: sum(({ owed }) => owed),
  };
}

function columnsOf(total: Total): Column<TopUp>[] {
  return [
    column("top-up", ({ topUpId }) => topUpId),
    column("account", ({ accountId }) => accountId),
    column("state", ({ state }) => state),
    column("provider", ({ provider }) => provider),
    column("created at", ({ createdAt }) => createdAt),
    column("paid at", ({ paidAt }) => paidAt),
    numbers("rupiah", ({ amount }) => rupiahText(idr(amount)), `${rupiahText(idr(total.amount))} paid`),
    numbers("given back", ({ givenBack }) => rupiahText(idr(givenBack)), rupiahText(idr(total.givenBack))),
    numbers("owed", ({ owed }) => rupiahText(idr(owed)), rupiahText(idr(total.owed))),
    column("problem", troubleOf),
  ];
}

function toJson(topUp: TopUp) {
  const { topUpId, accountId, state, provider, createdAt, paidAt } = topUp;
  return {
    topUpId,
    accountId,
    amount: formatMoney(idr(topUp.amount)),
    state,
    provider,
    tax: formatMoney(idr(topUp.tax)),
    givenBack: formatMoney(idr(topUp.givenBack + topUp.taxGivenBack)),
    owed: formatMoney(idr(topUp.owed)),
    problem: troubleOf(topUp),
    createdAt: createdAt.toISOString(),
    paidAt: paidAt?.toISOString() ?? null,
  };
}
