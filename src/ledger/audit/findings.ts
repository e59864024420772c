// What an audit finds, bounded: books that are wrong everywhere have as many violations as records, and a run that finds them must
// still end and report.

/** Something that must never be. `subject` is the id it was found at. */
export type Violation = { readonly check: string; readonly subject: string; readonly detail: string };

/** How many violations of one check are reported. */
export const MAX_VIOLATIONS_PER_CHECK = 100;
/** Statements read one more than are reported, so that it is known when there are more. */
export const VIOLATIONS_TO_READ = MAX_VIOLATIONS_PER_CHECK + 1;

/**
 * Checks that look at little, each a query of `subject` and `detail` by the sentence that it would break: one statement and
 * one snapshot do for all of them.
 */
export function inOneStatement(checks: Readonly<Record<string, string>>): string {
  return Object.entries(checks)
    .map(
      ([check, text]) =>
        `SELECT $$${check}$$ AS check, subject::text, detail FROM (${text} LIMIT ${VIOLATIONS_TO_READ}) found`,
    )
    .join("\nUNION ALL\n");
}

/** Collects violations: each once, and of each check no more than anybody reads. */
export class AuditFindings {
  readonly #reported = new Map<string, Map<string, Violation>>();
  #seen = 0;
  #hasMore = false;

  /** How often something was found, reported or not. A part of the audit that leaves it unchanged found nothing. */
  get seen(): number {
    return this.#seen;
  }

  /** Whether more was found than is reported. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** What is reported, check by check as they were first met. */
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
