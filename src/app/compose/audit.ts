import type { Pool } from "pg";
import { audit, type AuditReport } from "../../ledger/audit/audit.ts";
import { type AuditKind, claimAudit } from "../../ledger/audit/run.ts";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import type { PayoutChain } from "../../merchant/chains/payout-chain.ts";
import type { Config } from "../config/config.ts";
import { existingProofKeys } from "./proof.ts";
import { type AuditWitnesses, topicAudits } from "./topic-audits.ts";
import type { Tick } from "../../workers/tick.ts";

const MINUTE_MS = 60_000;
/** How often everything is read from its beginning, and how often what is new. */
const EVERY_MS = { full: 24 * 60 * MINUTE_MS, incremental: MINUTE_MS } as const satisfies Record<AuditKind, number>;
/**
 * A run that was cut short is taken up after so long. A full one of a large database takes hours, because it goes gently; of
 * an incremental one the alarm would ring after ten minutes.
 */
const RETRY_AFTER_MS = { full: 12 * 60 * MINUTE_MS, incremental: 5 * MINUTE_MS } as const;
/** The part of its time that the database works for an audit beside requests. */
const SHARE = 0.1;

export type AuditWork = {
  readonly pool: Pool;
  /** The models of a demo, which no change of the catalog has. */
  readonly presetModels: readonly CatalogModel[];
  readonly witnesses: () => Promise<AuditWitnesses>;
  /** Called with the findings of an audit, when there are any. */
  readonly onViolations: (kind: AuditKind, report: AuditReport) => void;
  /** Called with what an audit could not compare, where there is any. */
  readonly onNotCompared: (kind: AuditKind, what: readonly string[]) => void;
};

/** What this node can compare the books with, beyond the database. `chains`: those of production. */
export async function witnessesOf(
  config: Parameters<typeof existingProofKeys>[0] & Pick<Config, "usageArchiveDir">,
  chains: readonly PayoutChain[],
): Promise<AuditWitnesses> {
  return {
    proofKeys: await existingProofKeys(config),
    chains: chains.filter(({ name }) => name !== "sandbox"),
    archiveFolder: config.usageArchiveDir,
  };
}

/** Audits what is new every minute and everything once a day; processes on one database take turns. */
export function auditTicks({ pool, presetModels, witnesses, onViolations, onNotCompared }: AuditWork): Tick[] {
  const tickOf = (kind: AuditKind, name: string): Tick => ({
    name,
    everyMs: MINUTE_MS,
    run: async (signal) => {
      // A tick comes a little sooner or later than its minute.
      const everyMs = EVERY_MS[kind] * 0.9;
      if (!(await claimAudit(pool, { kind, everyMs, retryAfterMs: RETRY_AFTER_MS[kind] }))) return;
      const topics = topicAudits(presetModels, kind === "full" ? await witnesses() : null);
      const report = await audit(pool, { kind, share: SHARE, topics, signal });
      if (!report.ok) onViolations(kind, report);
      if (report.notCompared !== undefined) onNotCompared(kind, report.notCompared);
    },
  });
  return [tickOf("incremental", "audit what is new"), tickOf("full", "audit everything")];
}
