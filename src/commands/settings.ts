import { type BillingSettings, readBillingSettings } from "../billing/settings.ts";
import { DecimalError } from "../kernel/decimal.ts";
import { formatMoney, IDR, idr, parseMoney } from "../kernel/money.ts";
import { updateSettings } from "../operator/commands/settings.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

const reasonOption = { required: true, value: "R", about: "why" };

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
      reason: reasonOption,
    },
    async run(values, { database }) {
      const settings = { welcomeCredit: amountOrNothing(values.need("amount")) };
      return toResult(await updateSettings(await operatorHere(database), { settings, reason: values.need("reason") }));
    },
  },
  {
    name: "settings seller",
    about: "Sets who sells, as receipts name it from now on. No receipt is written before it is set.",
    options: {
      name: { required: true, value: "NAME", about: "the company" },
      address: { required: false, value: "TEXT", about: "its address; a line ends with a semicolon" },
      npwp: { required: false, value: "DIGITS", about: "its taxpayer number, 15, 16 or 22 digits" },
      reason: reasonOption,
    },
    async run(values, { database }) {
      const address = (values.get("address") ?? "").replaceAll(";", "\n");
      const seller = { name: values.need("name"), address, npwp: values.get("npwp") ?? "" };
      const command = { settings: { seller }, reason: values.need("reason") };
      return toResult(await updateSettings(await operatorHere(database), command));
    },
  },
  {
    name: "settings tax",
    about: "Sets the tax (PPN) on top-ups that are ordered from now on; 0 charges none. The seller needs an NPWP.",
    options: {
      percent: { required: true, value: "PERCENT", about: "the rate, up to 25, with at most two decimals" },
      included: { required: false, value: null, about: "the ordered amount includes the tax; otherwise it is added" },
      reason: reasonOption,
    },
    async run(values, { database }) {
      const tax = { rate: rateOf(values.need("percent")), isIncluded: values.has("included") };
      const command = { settings: { tax }, reason: values.need("reason") };
      return toResult(await updateSettings(await operatorHere(database), command));
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

/** A rate in hundredths of a percent. */
function rateOf(percent: string): number {
  const [, whole, decimals = ""] = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(percent) ?? [];
  if (whole === undefined) throw new UsageError("--percent must be a number with at most two decimals");
  return Number(whole) * 100 + Number(decimals.padEnd(2, "0"));
}

function toResult({ welcomeCredit, seller, tax }: BillingSettings) {
  return {
    json: {
      welcomeCredit: formatMoney(idr(welcomeCredit)),
      seller,
      tax: { percent: formatMoney({ units: BigInt(tax.rate), asset: "PERCENT/2" }), isIncluded: tax.isIncluded },
    },
    text: [
      `welcome credit: Rp ${formatMoney(idr(welcomeCredit))}`,
      `seller: ${[seller.name || "not set", ...seller.address.split("\n"), seller.npwp].filter((each) => each !== "").join(", ")}`,
      `tax: ${formatMoney({ units: BigInt(tax.rate), asset: "PERCENT/2" })} % ${tax.isIncluded ? "included" : "added"}`,
    ].join("\n"),
  };
}
