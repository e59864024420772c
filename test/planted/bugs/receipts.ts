// Guards of receipts and of the tax on top-ups.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const receipts = (file: string, find: string, replace: string): Edit => ({
  file: `src/billing/receipts/${file}`,
  find,
  replace,
});
const topUps = (file: string, find: string, replace: string): Edit => ({
  file: `src/billing/top-ups/${file}`,
  find,
  replace,
});
const statements = (find: string, replace: string): Edit => ({
  file: "src/billing/statements/store.ts",
  find,
  replace,
});
const onStatements = (test: string) => ({ file: "test/statements/statements.test.ts", test });
const issuing = (test: string) => ({ file: "test/receipts/issuing.test.ts", test });
const olderCode = (test: string) => ({ file: "test/receipts/older-code.test.ts", test });
const taxed = (test: string) => ({ file: "test/receipts/tax.test.ts", test });

/** Each with the test that must notice it. */
export const RECEIPT_BUGS: readonly PlantedBug[] = [
  {
    name: "the first tax leaves older code running, which gives taxed payments back wrongly",
    edits: [{ file: "src/billing/settings.ts", find: "if (rate > 0) await endOlderCode(client);", replace: "" }],
    noticedBy: olderCode("no rate of zero ends the time of older code, and the first tax is refused while"),
  },
  {
    name: "a process of older code that starts after the first tax is admitted",
    edits: [
      {
        file: "src/database/functions/oldest_code.sql",
        find: "IF coalesce(NEW.schema_code, 1) <",
        replace: "IF 99999 <",
      },
    ],
    noticedBy: olderCode("after the first tax no older code starts, also when the tax is taken away again"),
  },
  {
    name: "the tax and a process that starts do not meet",
    edits: [
      {
        file: "src/database/functions/oldest_code.sql",
        find: "PERFORM pg_advisory_xact_lock_shared(hashtextextended('oldest code', 0));",
        replace: "",
      },
    ],
    noticedBy: olderCode(
      "a process of older code that starts while the tax is set is refused, or keeps the tax from being set",
    ),
  },
  {
    name: "a credit note names the company of today",
    edits: [receipts("issue-receipts.ts", "if (corrected !== null) return corrected;", "")],
    noticedBy: {
      file: "test/receipts/bought.test.ts",
      test: "is followed by a credit note when the payment is refunded",
    },
  },
  {
    name: "the tax on a credit note has parts of a rupiah",
    edits: [
      receipts("tax.ts", "nearestRupiah(givenBack * tax, paid)", "divideFloor(givenBack * tax * 2n + paid, paid * 2n)"),
    ],
    noticedBy: taxed("goes back in whole rupiah, whatever parts are refunded"),
  },
  {
    name: "a credit note with another tax than went back is not found",
    edits: [receipts("audit-receipts.ts", "findings.add(await look<Violation>(WRONG_NOTES, topUps));", "")],
    noticedBy: taxed("is found by the audit where a credit note has another tax than went back"),
  },
  {
    name: "a statement names the receipt of what was refunded",
    edits: [
      {
        file: "src/billing/statements/statement.ts",
        find: 'if (change.givenBack === null) return kind === "receipt";',
        replace: 'if (kind === "receipt") return true;',
      },
    ],
    noticedBy: {
      file: "test/receipts/bought.test.ts",
      test: "is followed by a credit note when the payment is refunded",
    },
  },
  {
    name: "a name that a receipt cannot print is taken",
    edits: [receipts("party.ts", "if (unknown.length > 0)", "if (unknown.length < 0)")],
    noticedBy: { file: "test/receipts/bought.test.ts", test: "is not of a name that it cannot print" },
  },
  {
    name: "a receipt is issued with a name of before that it cannot print",
    edits: [
      receipts("issue-receipts.ts", 'printedParty(set ?? owner, set === null ? "" : owner.name)', "set ?? owner"),
    ],
    noticedBy: issuing("are written where a name was stored that cannot be printed"),
  },
  {
    name: "an amount of the command line is read with a point for thousands",
    edits: [
      {
        file: "src/commands/option-values.ts",
        find: "if (before !== undefined && behind !== undefined)",
        replace: "if (before === behind && value === '')",
      },
    ],
    noticedBy: { file: "src/commands/option-values.test.ts", test: "which groups thousands in Indonesia" },
  },
  {
    name: "the number of a receipt is taken outside of the transaction that writes it",
    edits: [
      receipts(
        "issue-receipts.ts",
        "const number = await takeNumber(client, { series, year });",
        "const number = await withTransaction(work.database, (apart) => takeNumber(apart, { series, year }));",
      ),
    ],
    noticedBy: issuing("have no gap and no double where a process stops at "),
  },
  {
    name: "the next number of a receipt is read and not locked",
    edits: [
      receipts(
        "store.ts",
        "UPDATE receipt_series SET last_number = last_number + 1 WHERE series = $1 AND year = $2::int RETURNING last_number AS number`",
        "SELECT last_number + 1 AS number FROM receipt_series WHERE series = $1 AND year = $2::int`",
      ),
    ],
    noticedBy: issuing("are one for each top-up, without gaps, where two processes write them eight times at once"),
  },
  {
    name: "a request that is settled behind its month is on the statement of both months",
    edits: [
      statements(
        "UNION ALL ${records(-1)} AND request_id >= greatest($4::uuid, ${underWayAt(UNTIL)}) AND request_id < $5::uuid\n    AND NOT ${IS_LATE} AND ${SETTLED} >= ${UNTIL}\n",
        "",
      ),
    ],
    noticedBy: onStatements("come to the ledger in every month, whatever of the usage is rolled up"),
  },
  {
    name: "a request that is settled late is on no statement",
    edits: [
      statements(
        "UNION ALL ${records(1)} AND request_id < $4::uuid AND ${IS_LATE} AND settled_at >= ${FROM} AND settled_at < ${UNTIL}\n",
        "",
      ),
    ],
    noticedBy: onStatements("come to the ledger in every month, whatever of the usage is rolled up"),
  },
  {
    name: "a posting at the first moment of a month is on the statement of the month before",
    edits: [statements('AND posted_at < ${time("$3")}`', 'AND posted_at <= ${time("$3")}`')],
    noticedBy: onStatements("come to the ledger in every month, whatever of the usage is rolled up"),
  },
  {
    name: "a payment without the tax is credited",
    edits: [topUps("apply-payment.ts", "facts.amount < paid) {", "facts.amount < topUp.amount) {")],
    noticedBy: taxed("has to be paid, too: a payment of the amount alone is not credited"),
  },
  {
    name: "the tax of a payment is credited to the account",
    edits: [
      topUps(
        "apply-payment.ts",
        "accountId,\n    amount,\n    from: providerClearing,",
        "accountId,\n    amount: amount + tax,\n    from: providerClearing,",
      ),
    ],
    noticedBy: taxed("is paid on top of it, posted as payable, and not on the balance"),
  },
  {
    name: "the tax stays payable when a payment is given back",
    edits: [
      topUps(
        "apply-payment.ts",
        "if (tax > 0n) await postTax(client, { topUpId, accountId, amount: tax, name: `tax-${name}`, isBack: true });",
        "",
      ),
    ],
    noticedBy: taxed("goes back with the payment, in parts and then whole, each with a credit note"),
  },
  {
    name: "the tax is computed when the payment comes",
    edits: [
      topUps(
        "apply-payment.ts",
        'if (tax > 0n) await postTax(client, { topUpId, accountId, amount: tax, name: "tax", isBack: false });',
        'const { readTaxRule } = await import("../settings.ts");\n  const rule = await readTaxRule(client);\n  if (rule.rate > 0) await postTax(client, { topUpId, accountId, amount: tax, name: "tax", isBack: false });',
      ),
    ],
    noticedBy: taxed("of an order stays what it was when it was ordered"),
  },
];
