import { writeFile } from "node:fs/promises";
import { receiptWork } from "../app/compose/receipts.ts";
import { partiesOf } from "../billing/receipts/issue-receipts.ts";
import { readStatement, type Statement } from "../billing/statements/statement.ts";
import { statementCsv } from "../billing/statements/statement-csv.ts";
import { statementDocument } from "../billing/statements/statement-document.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { type Command, UsageError } from "./command.ts";
import { languageOption } from "./option-values.ts";
import { column, numbers, type Table, tableOf } from "./table.ts";
import { accountFrom, accountOption } from "./which-account.ts";

export const statementCommands: readonly Command[] = [
  {
    name: "statement month",
    about: "Shows an account's statement of a month, and with --file writes it as a PDF or CSV file.",
    options: {
      account: accountOption,
      month: { required: true, value: "YYYY-MM", about: "the month in Asia/Jakarta" },
      file: { required: false, value: "FILE", about: "where the file is written" },
      format: {
        required: false,
        value: "F",
        about: "the format of the file, pdf or csv; default pdf",
        choices: ["pdf", "csv"],
      },
      language: {
        required: false,
        value: "L",
        about: "the language of the PDF, id or en; default id",
        choices: ["id", "en"],
      },
    },
    async run(values, { config, database }) {
      const opened = await database();
      const accountId = await accountFrom(values, database);
      const format = formatOption(values.get("format") ?? "pdf");
      const language = languageOption(values.get("language") ?? "id");
      const statement = await readStatement(opened.pool, { accountId, month: values.need("month") });
      const file = values.get("file");
      if (file === undefined) return { json: toJson(statement), text: textOf(statement) };
      if (format === "csv") await writeFile(file, statementCsv(statement));
      else {
        const parties = await partiesOf(receiptWork(config, opened), accountId);
        // Loaded here alone: it is large, and every start loads the commands.
        const { drawDocument } = await import("../billing/documents/draw-document.ts");
        await writeFile(file, await drawDocument(statementDocument(statement, parties, language)));
      }
      return { json: { ...toJson(statement), file }, text: [...textOf(statement), `It is written to ${file}.`] };
    },
  },
];

function formatOption(value: string): "pdf" | "csv" {
  if (value !== "pdf" && value !== "csv") throw new UsageError("--format must be pdf or csv");
  return value;
}

function textOf({ month, isComplete, opening, closing, sums, usage }: Statement): (string | Table)[] {
  const changes = sums.map(({ reason, count, amount }) => ({ what: reason, count: String(count), amount }));
  const lines = [balanceLine("opening balance", opening), ...changes, balanceLine("closing balance", closing)];
  const charge = usage.reduce((sum, each) => sum + each.charge, 0n);
  return [
    `${month} in Asia/Jakarta, ${isComplete ? "final" : "so far"}`,
    tableOf(
      lines,
      [
        column("what", ({ what }) => what),
        numbers("count", ({ count }) => count),
        numbers("rupiah", ({ amount }) => rupiahText(idr(amount))),
      ],
      "",
    ),
    tableOf(
      usage,
      [
        column("model", ({ model }) => model),
        numbers("requests", ({ requests }) => requests),
        numbers("input", ({ inputTokens }) => inputTokens),
        numbers("output", ({ outputTokens }) => outputTokens),
        numbers("rupiah", (each) => rupiahText(idr(each.charge)), rupiahText(idr(charge))),
      ],
      "No request was settled.",
    ),
  ];
}

function balanceLine(what: string, amount: bigint) {
  return { what, count: "", amount };
}

function toJson({ month, isComplete, opening, closing, sums, usage }: Statement) {
  return {
    month,
    complete: isComplete,
    opening: rupiah(opening),
    closing: rupiah(closing),
    sums: sums.map(({ reason, count, amount }) => ({ reason, count: String(count), amount: rupiah(amount) })),
    usage: usage.map(({ model, requests, inputTokens, outputTokens, charge }) => ({
      model,
      requests: String(requests),
      inputTokens: String(inputTokens),
      outputTokens: String(outputTokens),
      charge: rupiah(charge),
    })),
  };
}

function rupiah(units: bigint): string {
  return formatMoney(idr(units));
}
