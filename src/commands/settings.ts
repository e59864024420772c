import { type BillingSettings, readBillingSettings } from "../billing/settings.ts";
import { DecimalError } from "../kernel/decimal.ts";
import { formatMoney, IDR, idr, parseMoney } from "../kernel/money.ts";
import { updateSettings } from "../operator/commands/settings.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

export const settingCommands: readonly Command[] = [
  {
    name: "settings show",
    about: "Shows what operators have set for the whole service.",
    options: {},
    run: async (_values, { database }) => toResult(await readBillingSettings((await database()).pool)),
  },
  {
    name: "settings welcome-credit",
    about: "Sets what each new account is given from now on; 0 gives nothing.",
    options: {
      amount: { required: true, value: "RUPIAH", about: "how much, up to 10000000" },
      reason: { required: true, value: "R", about: "why" },
    },
    async run(values, { database }) {
      const settings = { welcomeCredit: amountOrNothing(values.need("amount")) };
      return toResult(await updateSettings(await operatorHere(database), { settings, reason: values.need("reason") }));
    },
  },
];

function amountOrNothing(value: string): bigint {
  try {
    return parseMoney(value, IDR).units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    throw new UsageError(`--amount ${error.message}`);
  }
}

function toResult({ welcomeCredit }: BillingSettings) {
  return { json: { welcomeCredit: formatMoney(idr(welcomeCredit)) } };
}
