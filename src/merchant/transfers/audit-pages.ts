// How this room's audits read all rows: page by page, in the order of ids, each page in a short statement.

import type { Look } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import type { Violation } from "../../ledger/audit/findings.ts";
import type { AuditCheck } from "../../ledger/audit/plugin.ts";

const ROWS_PER_PAGE = 1_000;
/** Every incremental run repeats this much: rows become visible with their commit, a while after their ids. */
const LATELY = `SELECT uuid_floor(clock_timestamp() - interval '2 hours') AS id`;

/** A check that no statement can do: it reads rows between two ids and returns what is wrong. */
export type PageCheck = (look: Look, page: readonly [after: string, last: string]) => Promise<readonly Violation[]>;

/** The pages to read, and the checks that must return nothing for any of them. A text is a query of violations. */
type AuditPages = {
  /** $1 the id to begin after: returns the page's last id. */
  readonly lastOfPage: string;
  /** $1 the id after which a page begins, $2 its last one. */
  readonly wrong: readonly (string | PageCheck)[];
};

/** The `lastOfPage` of a table, or of its rows that match `condition`. */
export function lastOfPage(table: string, condition = "true"): string {
  return `
SELECT id FROM (SELECT id FROM ${table} WHERE ${condition} AND id > $1::uuid ORDER BY id LIMIT ${ROWS_PER_PAGE}) page
ORDER BY id DESC LIMIT 1`;
}

/**
 * Pages of transfers: of all, or of those with recent events, in their current state. `wrong` makes statements of the
 * query that returns the ids of a page's transfers.
 */
export function pagesOfTransfers(full: boolean, wrong: readonly ((which: string) => string | PageCheck)[]): AuditPages {
  const inPage = "id > $1::uuid AND id <= $2::uuid";
  const [table, which] = full
    ? ["transfer", `SELECT id FROM transfer WHERE ${inPage}`]
    : ["transfer_event", `SELECT DISTINCT transfer_id AS id FROM transfer_event WHERE ${inPage}`];
  return { lastOfPage: lastOfPage(table), wrong: wrong.map((statement) => statement(which)) };
}

/** Reads the pages: an incremental run the recent ones, a full one all. */
export async function auditPages(
  { look, findings, full }: Parameters<AuditCheck>[0],
  subjects: readonly AuditPages[],
): Promise<void> {
  const [lately] = full ? [] : await look<{ id: string }>(LATELY);
  for (const subject of subjects) {
    for (let after = lately?.id ?? BEFORE_ALL_IDS; ;) {
      const [last] = await look<{ id: string }>(subject.lastOfPage, [after]);
      if (last === undefined) break;
      const page = [after, last.id] as const;
      for (const wrong of subject.wrong)
        findings.add(await (typeof wrong === "string" ? look<Violation>(wrong, page) : wrong(look, page)));
      after = last.id;
    }
  }
}
