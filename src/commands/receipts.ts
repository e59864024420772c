import { writeFile } from "node:fs/promises";
import { getReceipt, listReceipts, readReceiptDocument } from "../billing/receipts/receipts.ts";
import { numberText, type Receipt } from "../billing/receipts/receipt.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import type { Command } from "./command.ts";
import { integerOption, languageOption, uuidOption } from "./option-values.ts";
import { column, numbers, tableOf } from "./table.ts";
import { accountFrom, accountOption } from "./which-account.ts";

const MOST = 200;
const DEFAULT_LIMIT = 50;

const COLUMNS = [
  column<Receipt>("receipt", ({ receiptId }) => receiptId),
  column<Receipt>("number", numberText),
  column<Receipt>("kind", ({ kind }) => kind),
  column<Receipt>("dated", ({ datedAt }) => datedAt),
  column<Receipt>("buyer", ({ buyer }) => buyer.name),
  numbers<Receipt>("net", ({ net }) => rupiahText(idr(net))),
  numbers<Receipt>("tax", ({ tax }) => rupiahText(idr(tax))),
  numbers<Receipt>("rupiah", ({ net, tax }) => rupiahText(idr(net + tax))),
];

export const receiptCommands: readonly Command[] = [
  {
    name: "receipt list",
    about: "Lists an account's receipts and credit notes, newest first.",
    options: {
      account: accountOption,
      limit: { required: false, value: "N", about: `how many at most, 1 to ${MOST}; default ${DEFAULT_LIMIT}` },
    },
    async run(values, { database }) {
      const { items } = await listReceipts((await database()).pool, {
        accountId: await accountFrom(values, database),
        pageSize: integerOption(values.get("limit") ?? String(DEFAULT_LIMIT), "limit", { min: 1, max: MOST }),
        pageToken: "",
      });
      return { json: { receipts: items.map(toJson) }, text: tableOf(items, COLUMNS, "The account has no receipt.") };
    },
  },
  {
    name: "receipt get",
    about: "Shows a receipt, and with --file writes it as a PDF.",
    options: {
      receipt: { required: true, value: "ID", about: "the receipt" },
      file: { required: false, value: "FILE", about: "where the PDF is written" },
      language: {
        required: false,
        value: "L",
        about: "the language of the PDF, id or en; default id",
        choices: ["id", "en"],
      },
    },
    async run(values, { database }) {
      const { pool } = await database();
      const receiptId = uuidOption(values.need("receipt"), "receipt");
      const file = values.get("file");
      if (file === undefined) return { json: toJson(await getReceipt(pool, { accountId: null, receiptId })) };
      const asked = { accountId: null, receiptId, language: languageOption(values.get("language") ?? "id") };
      // Loaded here alone: it is large, and every start loads the commands.
      const { drawDocument } = await import("../billing/documents/draw-document.ts");
      const { receipt, document } = await readReceiptDocument(pool, asked);
      await writeFile(file, await drawDocument(document));
      return { json: { ...toJson(receipt), file } };
    },
  },
];

function toJson(receipt: Receipt) {
  const { receiptId, kind, accountId, topUpId, net, tax, seller, buyer, datedAt, issuedAt } = receipt;
  return {
    receiptId,
    number: numberText(receipt),
    kind,
    accountId,
    topUpId,
    net: formatMoney(idr(net)),
    tax: formatMoney(idr(tax)),
    total: formatMoney(idr(net + tax)),
    seller: seller.name,
    buyer: buyer.name,
    datedAt: datedAt.toISOString(),
    issuedAt: issuedAt.toISOString(),
  };
}
