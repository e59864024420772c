// A receipt or a credit note as a document. Everything on it comes from its row.

import { formatMoney, idr } from "../../kernel/money.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import type { Document, Row } from "../documents/document.ts";
import { rupiahInWords } from "./amount-in-words.ts";
import { partyLines } from "./party.ts";
import { isPlay, numberText, type Receipt } from "./receipt.ts";
import { RECEIPT_MESSAGES } from "./receipt-messages.ts";

const MICRO = 1_000_000n;
const PROVIDERS: Readonly<Record<string, string>> = { midtrans: "Midtrans", xendit: "Xendit", sandbox: "Sandbox" };

/** Makes the document. `corrects`: the number of the receipt that a credit note is for; empty where it is not known. */
export function receiptDocument(receipt: Receipt, language: Language, corrects = ""): Document {
  const messages = RECEIPT_MESSAGES[language];
  const { kind, seller, buyer, datedAt, issuedAt, provider, topUpId, net, tax } = receipt;
  const total = net + tax;
  const facts = [
    { label: messages.number, value: numberText(receipt) },
    { label: messages.date, value: dateText(datedAt, messages.locale) },
    { label: messages.paidVia, value: PROVIDERS[provider] ?? provider },
    { label: messages.topUp, value: topUpId },
  ];
  return {
    language,
    title: messages.titles[kind],
    subtitle: numberText(receipt),
    warning: isPlay(receipt) ? messages.play : "",
    author: seller.name,
    createdAt: issuedAt,
    pageWord: messages.page,
    blocks: [
      {
        kind: "parties",
        parties: [
          { label: messages.seller, lines: partyLines(seller, messages.npwp) },
          { label: messages.buyer, lines: partyLines(buyer, messages.npwp) },
        ],
      },
      {
        kind: "facts",
        facts:
          kind === "credit_note" && corrects !== "" ? [...facts, { label: messages.corrects, value: corrects }] : facts,
      },
      {
        kind: "table",
        columns: [
          { head: messages.description, width: 0.64 },
          { head: messages.amount, width: 0.36, isNumber: true },
        ],
        rows: rowsOf(receipt, language),
      },
      // A refund of before 2026-11-27 may have parts of a rupiah, and words have none.
      ...(total % MICRO === 0n
        ? [{ kind: "words", label: messages.inWords, words: rupiahInWords(total / MICRO, language) } as const]
        : []),
      {
        kind: "notes",
        lines: [
          ...(kind === "receipt" ? [tax > 0n ? messages.creditedNet : messages.credited] : []),
          messages.electronic,
          ...(tax > 0n ? [messages.noTaxInvoice] : []),
        ],
      },
    ],
  };
}

function rowsOf({ kind, net, tax, taxRate }: Receipt, language: Language): Row[] {
  const messages = RECEIPT_MESSAGES[language];
  const money = (units: bigint): string => rupiahText(idr(units), language);
  const sum: Row = { cells: [messages.total[kind], money(net + tax)], isSum: true };
  if (taxRate === 0) return [{ cells: [messages.what[kind], money(net)] }, sum];
  return [
    { cells: [`${messages.what[kind]}\n${messages.net}`, money(net)] },
    { cells: [messages.tax(percentText(taxRate, language)), money(tax)] },
    sum,
  ];
}

/** A rate in hundredths of a percent: `11`, `11,5`. */
function percentText(rate: number, language: Language): string {
  const text = formatMoney({ units: BigInt(rate), asset: "PERCENT/2" });
  return language === "id" ? text.replace(".", ",") : text;
}

/** A day and time in Jakarta: `26 November 2026 16.05 WIB`. */
function dateText(moment: Date, locale: string): string {
  const zone = { timeZone: "Asia/Jakarta" } as const;
  const day = new Intl.DateTimeFormat(locale, { ...zone, day: "numeric", month: "long", year: "numeric" }).format(
    moment,
  );
  const time = new Intl.DateTimeFormat(locale, { ...zone, hour: "2-digit", minute: "2-digit" }).format(moment);
  return `${day}, ${time} WIB`;
}
