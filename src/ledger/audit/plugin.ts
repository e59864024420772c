// A topic's checks in the audit: the ledger knows its own tables only.

import type { Look } from "../../database/throttled-reader.ts";
import type { AuditFindings } from "./findings.ts";

/** Checks, each a query of `subject` and `detail` under the sentence of its invariant. */
export type Checks = Readonly<Record<string, string>>;

/**
 * A check with pages of its own: it reads through `look` and adds its findings. `full`: all rows, otherwise new ones. `notCompared`: reports
 * what it could not look at, so that a run which found nothing does not seem to have seen it.
 */
export type AuditCheck = (run: {
  readonly look: Look;
  readonly findings: Pick<AuditFindings, "add">;
  readonly full: boolean;
  readonly notCompared: (what: string) => void;
}) => Promise<void>;

export type AuditPlugin = {
  /** Checks that read little: they run in one statement. */
  readonly whole?: Checks;
  /** Checks of a page of postings, $1 its first id and $2 its last. */
  readonly postings?: Checks;
  readonly pages?: AuditCheck;
};
