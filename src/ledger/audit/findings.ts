// The findings of an audit, limited: books that are wrong everywhere have as many violations as records, and a run that finds
// them must still end and report.

/** A violation of an invariant. `subject` is the id of the wrong row. */
export type Violation = { readonly check: string; readonly subject: string; readonly detail: string };

/** How many violations of one check are reported. */
export const MAX_VIOLATIONS_PER_CHECK = 100;
/** Statements read one more than the report has, so that the report knows when there are more. */
export const VIOLATIONS_TO_READ = MAX_VIOLATIONS_PER_CHECK + 1;

/**
 * Small checks, each a query of `subject` and `detail` under the sentence of its invariant: one statement and one snapshot for
 * all of them.
 */
export function inOneStatement(checks: Readonly<Record<string, string>>): string {
  return Object.entries(checks)
    .map(
      ([check, text]) =>
        `SELECT $$${check}$$ AS check, subject::text, detail FROM (${text} LIMIT ${VIOLATIONS_TO_READ}) found`,
    )
    .join("\nUNION ALL\n");
}

/** Collects violations: each once, and a limited number of each check. */
export class AuditFindings {
  readonly #reported = new Map<string, Map<string, Violation>>();
  #seen = 0;
  #hasMore = false;

  /** The number of findings, reported or not. A part of the audit that leaves it unchanged found nothing. */
  get seen(): number {
    return this.#seen;
  }

  /** Whether there are more findings than reported. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** The reported violations, by check in the order of their first finding. */
  get violations(): Violation[] {
    return [...this.#reported.values()].flatMap((ofCheck) => [...ofCheck.values()]);
  }

  add(found: Iterable<Violation>): void {
    for (const violation of found) {
      this.#seen += 1;
      const { check, subject } = violation;
      let ofCheck = this.#reported.get(check);
      if (ofCheck === undefined) this.#reported.set(check, (ofCheck = new Map<string, Violation>()));
      if (ofCheck.has(subject)) continue;
      if (ofCheck.size < MAX_VIOLATIONS_PER_CHECK) ofCheck.set(subject, violation);
      else this.#hasMore = true;
    }
  }
}
