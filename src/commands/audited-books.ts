// What the commands that end a restore share: the audit of the restored books, and how its outcome is printed.

import { witnessesOf } from "../app/compose/audit.ts";
import { presetCatalog } from "../app/compose/catalog.ts";
import { topicAudits } from "../app/compose/topic-audits.ts";
import type { Config } from "../app/config/config.ts";
import type { Database } from "../database/database.ts";
import { audit, type AuditReport } from "../ledger/audit/audit.ts";
import { UsageError } from "./command.ts";

/** Audits restored books. Without chains: they are ahead of a backup. */
export async function auditAll(config: Config, pool: Database["pool"]): Promise<AuditReport> {
  const topics = topicAudits(presetCatalog(config).presetModels, await witnessesOf(config, []));
  return audit(pool, { kind: "full", topics });
}

/** What a report of an audit adds to an answer. */
export function found({ ok, violations, hasMore }: AuditReport) {
  return ok ? {} : { violations, hasMore };
}

/** The same in a sentence. */
export function foundText({ ok, violations }: AuditReport): string {
  return ok ? "The audit found nothing." : `The audit found ${violations.length} violations: saldo audit --full.`;
}

/** What an operator does next, by these commands. */
export function stoppedText(next: readonly string[]): string {
  return `Admissions and payouts are stopped. Then: ${next.join(", ")}.`;
}

/** A moment of an option. Null: it was left out. Errors: UsageError. */
export function momentIn(text: string | undefined, command: string): Date | null {
  if (text === undefined) return null;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime()) || !/(?:Z|[+-]\d\d:?\d\d)$/i.test(text))
    throw new UsageError(`${command}: --until is a time with its zone, such as 2026-11-24T15:04:05Z.`);
  return moment;
}
