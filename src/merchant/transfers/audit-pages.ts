// How this room's audits go through what there is: page by page, in the order of ids, each page in a short statement.

import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import type { AuditCheck, Violation } from "../../ledger/audit/findings.ts";

const ROWS_PER_PAGE = 1_000;
/** Every incremental run looks at this much again: rows come with their commit, a while behind their ids. */
const LATELY = `SELECT uuid_floor(clock_timestamp() - interval '2 hours') AS id`;

/** What is gone through, and what must find nothing in any of its pages. */
type AuditPages = {
  /** $1 the id to begin behind: gives the page's last id. */
  readonly lastOfPage: string;
  /** $1 the id behind which a page begins, $2 its last one. */
  readonly wrong: readonly string[];
};

/** The `lastOfPage` of a table, or of its rows that `condition` picks. */
export function lastOfPage(table: string, condition = "true"): string {
  return `
SELECT id FROM (SELECT id FROM ${table} WHERE ${condition} AND id > $1::uuid ORDER BY id LIMIT ${ROWS_PER_PAGE}) page
ORDER BY id DESC LIMIT 1`;
}

/**
 * Pages of transfers: of all, or of those that an event names lately, looked at as they are now. `wrong` makes statements
 * of the query that gives the ids of a page's transfers.
 */
export function pagesOfTransfers(full: boolean, wrong: readonly ((which: string) => string)[]): AuditPages {
  const inPage = "id > $1::uuid AND id <= $2::uuid";
  const [table, which] = full
    ? ["transfer", `SELECT id FROM transfer WHERE ${inPage}`]
    : ["transfer_event", `SELECT DISTINCT transfer_id AS id FROM transfer_event WHERE ${inPage}`];
  return { lastOfPage: lastOfPage(table), wrong: wrong.map((statement) => statement(which)) };
}

/** Goes through pages: an incremental run through what has happened lately, a full one through everything. */
export async function auditPages(
  { look, findings, full }: Parameters<AuditCheck>[0],
  subjects: readonly AuditPages[],
): Promise<void> {
  const [lately] = full ? [] : await look<{ id: string }>(LATELY);
  for (const subject of subjects) {
    for (let after = lately?.id ?? BEFORE_ALL_IDS; ;) {
      const [last] = await look<{ id: string }>(subject.lastOfPage, [after]);
      if (last === undefined) break;
      for (const wrong of subject.wrong) findings.add(await look<Violation>(wrong, [after, last.id]));
      after = last.id;
    }
  }
}
