import type { AuditKind } from "../ledger/audit/run.ts";
import { audit, type AuditReport } from "../ledger/audit/audit.ts";
import { presetCatalog } from "../app/compose/catalog.ts";
import { createRealChains } from "../app/compose/payouts.ts";
import { witnessesOf } from "../app/compose/audit.ts";
import { topicAudits } from "../app/compose/topic-audits.ts";
import type { Command } from "./command.ts";

/** A server may be serving beside it: the audit takes at most this part of a processor's time. */
const GENTLE_SHARE = 0.1;

export const auditCommands: readonly Command[] = [
  {
    name: "audit",
    about: "Checks every invariant of the ledger on what is new since the last audit; exits with 1 when one is broken.",
    options: {
      full: { required: false, value: null, about: "reads everything from its beginning" },
      hurry: { required: false, value: null, about: "makes no pauses; for a service that is stopped" },
    },
    async run(values, { config, database }) {
      const kind = values.has("full") ? "full" : "incremental";
      const share = values.has("hurry") ? 1 : GENTLE_SHARE;
      const chains = kind === "full" ? (await createRealChains(config)).map(({ chain }) => chain) : [];
      const witnesses = kind === "full" ? await witnessesOf(config, chains) : null;
      const topics = topicAudits(presetCatalog(config).presetModels, witnesses);
      const report = await audit((await database()).pool, { kind, share, topics });
      return { json: { ...report, kind }, text: textOf(kind, report), ok: report.ok };
    },
  },
];

function textOf(kind: AuditKind, report: AuditReport): string {
  const missed = (report.notCompared ?? []).map((what) => `Not compared: ${what}.`);
  return [foundText(kind, report), ...missed].join("\n");
}

function foundText(kind: AuditKind, { ok, violations, hasMore }: AuditReport): string {
  if (ok && kind === "full") return "The books are in order.";
  if (ok) return "What is new since the last audit is in order; --full reads everything.";
  const lines = violations.map(({ check, subject, detail }) => `${check}\n  ${subject}: ${detail}`);
  return [...lines, ...(hasMore ? ["There are more than these."] : [])].join("\n");
}
