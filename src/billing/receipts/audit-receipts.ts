// The audit of receipts: numbers without gaps, and each receipt against its top-up, in pages by the top-up's id.

import { missingConstraints, unprotectedTables } from "../../database/schema-checks.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { type Violation, VIOLATIONS_TO_READ } from "../../ledger/audit/findings.ts";
import type { AuditCheck, AuditPlugin } from "../../ledger/audit/plugin.ts";

const TOP_UPS_PER_PAGE = 500;

/** Every paid top-up, or those with a document of the last hour. */
const PAGES = {
  full: `SELECT id FROM top_up WHERE paid_at IS NOT NULL AND id > $1::uuid ORDER BY id LIMIT ${TOP_UPS_PER_PAGE}`,
  recent: `
SELECT DISTINCT top_up_id AS id FROM receipt
WHERE id >= uuid_floor(clock_timestamp() - interval '1 hour') AND top_up_id > $1::uuid ORDER BY top_up_id LIMIT ${TOP_UPS_PER_PAGE}`,
} as const;

// Numbers are unique and above zero, so as many as the highest are all of them.
const GAPS = `
SELECT 'the numbers of receipts have no gaps' AS "check", s.series || '-' || s.year AS subject,
  format('last number %s, %s receipts', s.last_number, r.receipts) AS detail
FROM receipt_series s CROSS JOIN LATERAL (SELECT count(*) AS receipts FROM receipt WHERE series = s.series AND year = s.year) r
WHERE s.last_number <> r.receipts LIMIT ${VIOLATIONS_TO_READ}`;

// $1 top-ups. One snapshot: a top-up is marked in the transaction that writes its document.
const WRONG_RECEIPTS = `
SELECT 'a top-up is marked as its receipt and credit notes are' AS "check", t.id AS subject,
  format('receipted at %s, noted %s; has receipt: %s, notes: %s', t.receipted_at, t.noted_back, r.has_receipt, r.noted) AS detail
FROM top_up t CROSS JOIN LATERAL (
  SELECT coalesce(bool_or(kind = 'receipt'), false) AS has_receipt,
    coalesce(bool_and(kind <> 'receipt' OR (net = t.amount AND tax = coalesce(t.tax, 0))), true) AS is_equal,
    coalesce(sum(net + tax) FILTER (WHERE kind = 'credit_note'), 0) AS noted
  FROM receipt WHERE top_up_id = t.id
) r
WHERE t.id = ANY ($1::uuid[])
  AND ((t.receipted_at IS NOT NULL) <> r.has_receipt OR NOT r.is_equal OR coalesce(t.noted_back, 0) <> r.noted
    OR r.noted > t.given_back + coalesce(t.tax_given_back, 0))
LIMIT ${VIOLATIONS_TO_READ}`;

// $1 top-ups. What the ledger has of their tax is compared with the top-ups by their own audit.
const WRONG_NOTES = `
SELECT 'the credit notes of a top-up have the tax that went back' AS "check", t.id AS subject,
  format('tax given back %s, on credit notes %s', t.tax_given_back, n.tax) AS detail
FROM top_up t CROSS JOIN LATERAL (
  SELECT coalesce(sum(tax), 0) AS tax FROM receipt WHERE top_up_id = t.id AND kind = 'credit_note'
) n
WHERE t.id = ANY ($1::uuid[]) AND CASE WHEN coalesce(t.noted_back, 0) = t.given_back + coalesce(t.tax_given_back, 0)
  THEN n.tax <> coalesce(t.tax_given_back, 0) ELSE n.tax > coalesce(t.tax_given_back, 0) END
LIMIT ${VIOLATIONS_TO_READ}`;

// $1 top-ups. The rule of the constraint "top_up_tax", which is not validated: by other means, and for rows of before it, too.
const WRONG_TAXES = `
SELECT 'the tax of a top-up is possible, and no more of it goes back' AS "check", id AS subject,
  format('tax %s at rate %s, given back %s', tax, tax_rate, tax_given_back) AS detail
FROM top_up
WHERE id = ANY ($1::uuid[]) AND (tax < 0 OR tax_rate NOT BETWEEN 0 AND 10000 OR tax_given_back < 0 OR tax_given_back > coalesce(tax, 0))
LIMIT ${VIOLATIONS_TO_READ}`;

const auditPages: AuditCheck = async ({ look, findings, full }) => {
  if (full) findings.add(await look<Violation>(GAPS));
  for (let after = BEFORE_ALL_IDS; ;) {
    const page = await look<{ id: string }>(full ? PAGES.full : PAGES.recent, [after]);
    const last = page.at(-1);
    if (last === undefined) return;
    const topUps = [page.map(({ id }) => id)];
    findings.add(await look<Violation>(WRONG_RECEIPTS, topUps));
    findings.add(await look<Violation>(WRONG_NOTES, topUps));
    findings.add(await look<Violation>(WRONG_TAXES, topUps));
    after = last.id;
  }
};

/** The part of receipts in the ledger's audit. */
export const receiptAudit: AuditPlugin = {
  whole: {
    "no receipt can be changed": unprotectedTables(["receipt"]),
    "the database refuses what must never be of a receipt": missingConstraints([
      ["receipt", "receipt_number"],
      ["receipt", "receipt_once"],
      ["receipt", "receipt_amount"],
    ]),
    "the database refuses what must never be of a tax": missingConstraints([["top_up", "top_up_tax"]], {
      areValidated: false,
    }),
    // The series of other cells have the name of theirs at the end.
    "receipts are numbered in the series of their cell": `
      SELECT s.series || '-' || s.year AS subject, format('the cell is %s', coalesce(p.cell, 'home')) AS detail
      FROM receipt_series s LEFT JOIN database_purpose p ON p.cell <> 'home'
      WHERE s.series !~ ('^(DEMO-)?(KW|NK)' || coalesce('-' || upper(p.cell), '') || '$')`,
    "the last number of a series is its highest": `
      SELECT s.series || '-' || s.year AS subject, format('last number %s, highest %s', s.last_number, r.highest) AS detail
      FROM receipt_series s CROSS JOIN LATERAL (
        SELECT coalesce(max(number), 0) AS highest FROM receipt WHERE series = s.series AND year = s.year
      ) r WHERE s.last_number <> r.highest`,
  },
  pages: auditPages,
};
