import { callbackPlaces } from "../app/compose/callbacks.ts";
import { updateCallbacks, setFee, createMerchant, creditMerchant, termTexts } from "../operator/commands/merchants.ts";
import { findMerchants, type ListedMerchant } from "../merchant/merchants/listings.ts";
import type { Command, CommandValues } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { choiceOption, CURRENCIES, integerOption, NETWORKS, uuidOption } from "./option-values.ts";
import { column, tableOf } from "./table.ts";
import { accountFrom, accountOption, anyAccountFrom, anyAccountOption } from "./which-account.ts";

const ENVIRONMENTS = ["sandbox", "production"] as const;
const MOST_LISTED = 1_000;
const DEFAULT_LIMIT = 50;
const currency = { required: true, value: "CODE", about: "the currency, such as TRX", choices: CURRENCIES };

const MERCHANT_COLUMNS = [
  column<ListedMerchant>("merchant", ({ merchantId }) => merchantId),
  column<ListedMerchant>("environment", ({ environment }) => environment),
  column<ListedMerchant>("account", ({ accountId }) => accountId),
  column<ListedMerchant>("created at", ({ createdAt }) => createdAt),
];

export const merchantCommands: readonly Command[] = [
  {
    name: "merchant list",
    about: "Lists merchants, newest first, of one account or of all.",
    options: {
      account: anyAccountOption,
      limit: { required: false, value: "N", about: `how many at most, 1 to ${MOST_LISTED}; ${DEFAULT_LIMIT}` },
    },
    async run(values, { database }) {
      const limit = integerOption(values.get("limit") ?? String(DEFAULT_LIMIT), "limit", { min: 1, max: MOST_LISTED });
      const accountId = await anyAccountFrom(values, database);
      const merchants = await findMerchants((await database()).pool, { accountId, beforeId: null, limit });
      const json = merchants.map(({ createdAt, ...each }) => ({ ...each, createdAt: createdAt.toISOString() }));
      return { json: { merchants: json }, text: tableOf(merchants, MERCHANT_COLUMNS, "There is no merchant.") };
    },
  },
  {
    name: "merchant create",
    about: "Makes a merchant of an account. Its pair is shown here and nowhere else.",
    options: {
      account: accountOption,
      environment: {
        required: true,
        value: ENVIRONMENTS.join("|"),
        about: "where the pair works",
        choices: ENVIRONMENTS,
      },
    },
    async run(values, { database }) {
      const { merchantId, apiKey, secretKey } = await createMerchant(await operatorHere(database), {
        accountId: await accountFrom(values, database),
        environment: choiceOption(values.need("environment"), "environment", ENVIRONMENTS),
      });
      return { json: { merchantId, apiKey, secretKey } };
    },
  },
  {
    name: "merchant credit",
    about: "Puts coins that came in on a merchant's balance.",
    options: {
      merchant: { required: true, value: "ID", about: "the merchant" },
      currency,
      amount: { required: true, value: "AMOUNT", about: "whole coins, a decimal" },
      network: { required: false, value: "N", about: "the chain, where the currency has several", choices: NETWORKS },
      reason: { required: false, value: "R", about: "why, for the ledger" },
      reference: { required: true, value: "REF", about: "names the credit; the same reference credits once, for ever" },
    },
    async run(values, { database }) {
      const { postingId, available } = await creditMerchant(await operatorHere(database), {
        merchantId: uuidOption(values.need("merchant"), "merchant"),
        currencyCode: values.need("currency"),
        amountText: values.need("amount"),
        ...optional(values, "network", "network"),
        ...optional(values, "reason", "reason"),
        reference: values.need("reference"),
      });
      return { json: { postingId, available } };
    },
  },
  {
    name: "merchant callback",
    about:
      "Sets where a merchant receives callbacks of its transfers. A new token and secret are shown here and nowhere else.",
    options: {
      merchant: { required: true, value: "ID", about: "the merchant" },
      url: { required: true, value: "URL", about: "what is posted to, https://...; left out: no callbacks" },
      token: { required: false, value: "T", about: "the merchant's own x-callback-token, instead of one made here" },
      "renew-secret": { required: false, value: null, about: "makes a new signing secret" },
    },
    async run(values, { database, config }) {
      const url = values.need("url");
      const { settings, token, secret } = await updateCallbacks(await operatorHere(database), callbackPlaces(config), {
        merchantId: uuidOption(values.need("merchant"), "merchant"),
        url: url === "none" ? "" : url,
        token: values.get("token") ?? "",
        renewSecret: values.has("renew-secret"),
      });
      const shown = { ...(token === "" ? {} : { token }), ...(secret === "" ? {} : { secret }) };
      return { json: { url: settings.url, ...shown } };
    },
  },
  {
    name: "fee set",
    about: "Adds a version of the fee of a merchant, a currency, both, or all others: max(min, flat + rate x amount).",
    options: {
      merchant: { required: false, value: "ID", about: "only this merchant" },
      currency: { ...currency, required: false },
      flat: { required: true, value: "AMOUNT", about: "whole coins, a decimal" },
      rate: { required: true, value: "PART", about: "a part of the amount, such as 0.3" },
      min: { required: false, value: "AMOUNT", about: "the least fee" },
      max: { required: false, value: "AMOUNT", about: "the largest fee" },
      reason: { required: false, value: "R", about: "why" },
    },
    async run(values, { database }) {
      const merchant = values.get("merchant");
      const { row, isNew } = await setFee(await operatorHere(database), {
        reason: values.get("reason") ?? null,
        flat: values.need("flat"),
        rate: values.need("rate"),
        ...(merchant === undefined ? {} : { merchantId: uuidOption(merchant, "merchant") }),
        ...optional(values, "currency", "currencyCode"),
        ...optional(values, "min", "min"),
        ...optional(values, "max", "max"),
      });
      const { merchantId, currencyCode, version } = row;
      return { json: { merchantId, currencyCode, version, ...termTexts(row), isNew } };
    },
  },
];

function optional<Name extends string>(values: CommandValues, option: string, name: Name): { [N in Name]?: string } {
  const value = values.get(option);
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: string };
}
