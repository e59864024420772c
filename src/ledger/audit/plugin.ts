// What a topic adds to the audit: the ledger knows its own tables only.

import type { Look } from "../../database/throttled-reader.ts";
import type { AuditFindings } from "./findings.ts";

/** Checks, each a query of `subject` and `detail` by the sentence that it would break. */
export type Checks = Readonly<Record<string, string>>;

/** A check that reads in pages of its own: by `look`, adding what it finds. `full`: everything, else what is new. */
export type AuditCheck = (run: {
  readonly look: Look;
  readonly findings: Pick<AuditFindings, "add">;
  readonly full: boolean;
}) => Promise<void>;

export type AuditPlugin = {
  /** Checks that read little: they run in one statement. */
  readonly whole?: Checks;
  /** Checks of a page of postings, $1 its first id and $2 its last. */
  readonly postings?: Checks;
  readonly pages?: AuditCheck;
};
