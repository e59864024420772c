// A statement as a document.

import { idr } from "../../kernel/money.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import type { Block, Document, Row } from "../documents/document.ts";
import { partyLines, type Party } from "../receipts/party.ts";
import type { Statement, StatementEntry } from "./statement.ts";
import type { ModelUsage } from "./store.ts";
import { STATEMENT_MESSAGES } from "./statement-messages.ts";

/** A page is drawn in some 0.1 s, and a document may take as long as a request. The CSV has more. */
const MOST_ENTRIES = 200;
const MOST_MODELS = 100;

/** Who is named on a statement: as the settings are now. A seller without a name is left out. */
export type StatementParties = { readonly seller: Party; readonly buyer: Party };

export function statementDocument(
  statement: Statement,
  { seller, buyer }: StatementParties,
  language: Language,
): Document {
  const { accountId, fromMs, untilMs, isComplete, madeAt, entries } = statement;
  const leftOut = statement.entriesLeftOut + Math.max(0, entries.length - MOST_ENTRIES);
  const messages = STATEMENT_MESSAGES[language];
  const dates = datesOf(messages.locale);
  const parties = [
    { label: messages.seller, lines: partyLines(seller, messages.npwp) },
    { label: messages.buyer, lines: partyLines(buyer, messages.npwp) },
  ];
  return {
    language,
    title: messages.title,
    subtitle: dates.month(fromMs),
    warning: isComplete ? "" : messages.soFar(dates.moment(madeAt.getTime())),
    author: seller.name === "" ? "Saldo" : seller.name,
    createdAt: isComplete ? new Date(untilMs) : madeAt,
    pageWord: messages.page,
    blocks: [
      { kind: "parties", parties: parties.filter(({ lines }) => lines.length > 0) },
      {
        kind: "facts",
        facts: [
          { label: messages.period, value: `${dates.day(fromMs)} – ${dates.day(untilMs - 1)}, ${messages.zone}` },
          { label: messages.account, value: accountId },
        ],
      },
      summaryOf(statement, language),
      ...usageOf(statement, language),
      ...entriesOf(statement, language),
      {
        kind: "notes",
        lines: [...(leftOut > 0 ? [messages.leftOut(leftOut)] : []), ...messages.notes],
      },
    ],
  };
}

function summaryOf({ opening, closing, sums }: Statement, language: Language): Block {
  const messages = STATEMENT_MESSAGES[language];
  const { rupiah, whole, reason } = wordsOf(language);
  return {
    kind: "table",
    title: messages.summary,
    columns: [
      { head: messages.change, width: 0.5 },
      { head: messages.count, width: 0.16, isNumber: true },
      { head: messages.amount, width: 0.34, isNumber: true },
    ],
    rows: [
      { cells: [messages.opening, "", rupiah(opening)] },
      ...sums.map((sum): Row => ({ cells: [reason(sum.reason), whole(sum.count), rupiah(sum.amount)] })),
      { cells: [messages.closing, "", rupiah(closing)], isSum: true },
    ],
  };
}

function usageOf({ usage }: Statement, language: Language): Block[] {
  if (usage.length === 0) return [];
  const messages = STATEMENT_MESSAGES[language];
  const { rupiah, whole } = wordsOf(language);
  const sumOf = (label: string, models: readonly ModelUsage[]): string[] => {
    const sum = (of: "requests" | "inputTokens" | "outputTokens" | "charge") =>
      models.reduce((before, each) => before + each[of], 0n);
    const counts = [sum("requests"), sum("inputTokens"), sum("outputTokens")].map(whole);
    return [label, ...counts, rupiah(sum("charge"))];
  };
  const others = usage.slice(MOST_MODELS);
  return [
    {
      kind: "table",
      title: messages.usage,
      columns: [
        { head: messages.model, width: 0.28 },
        { head: messages.requests, width: 0.13, isNumber: true },
        { head: messages.input, width: 0.17, isNumber: true },
        { head: messages.output, width: 0.17, isNumber: true },
        { head: messages.amount, width: 0.25, isNumber: true },
      ],
      rows: [
        ...usage.slice(0, MOST_MODELS).map((each): Row => ({ cells: sumOf(each.model, [each]) })),
        ...(others.length === 0 ? [] : [{ cells: sumOf(messages.others(others.length), others) }]),
        { cells: sumOf(messages.total, usage), isSum: true },
      ],
    },
  ];
}

function entriesOf({ entries }: Statement, language: Language): Block[] {
  if (entries.length === 0) return [];
  const messages = STATEMENT_MESSAGES[language];
  const { rupiah, reason } = wordsOf(language);
  const dates = datesOf(messages.locale);
  const about = ({ reason: name, receiptNumber, givenBack }: StatementEntry): string => {
    if (receiptNumber === null) return reason(name);
    // On a line of its own: a number would be broken at its hyphens.
    return `${reason(name)}\n${givenBack === null ? messages.receipt(receiptNumber) : messages.creditNote(receiptNumber)}`;
  };
  return [
    {
      kind: "table",
      title: messages.entries,
      columns: [
        { head: messages.date, width: 0.26 },
        { head: messages.change, width: 0.46 },
        { head: messages.amount, width: 0.28, isNumber: true },
      ],
      rows: entries.slice(0, MOST_ENTRIES).map((entry): Row => {
        return { cells: [dates.moment(entry.postedAt.getTime()), about(entry), rupiah(entry.amount)] };
      }),
    },
  ];
}

function wordsOf(language: Language) {
  const { reasons, locale } = STATEMENT_MESSAGES[language];
  return {
    rupiah: (units: bigint): string => rupiahText(idr(units), language),
    whole: (count: bigint): string => count.toLocaleString(locale),
    reason: (name: string): string => reasons[name] ?? name,
  };
}

/** Moments in Jakarta. */
function datesOf(locale: string) {
  const write = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone: "Asia/Jakarta", ...options });
    return (ms: number): string => format.format(ms);
  };
  const clock = write({ hour: "2-digit", minute: "2-digit" });
  const day = write({ day: "numeric", month: "short", year: "numeric" });
  return {
    month: write({ month: "long", year: "numeric" }),
    day: write({ day: "numeric", month: "long", year: "numeric" }),
    moment: (ms: number): string => `${day(ms)}, ${clock(ms)}`,
  };
}
