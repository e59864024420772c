// The background work of a node that needs nothing of what serves: looking after tables, forgetting, and auditing.

import type { Pool } from "pg";
import { forgetAlertsTick } from "../../billing/jobs/alerts.ts";
import { usageTick } from "../../billing/jobs/usage.ts";
import { retriesTick } from "../../gateway/jobs/retries.ts";
import { forgetFiguresTick } from "../../gateway/jobs/upstream-figures.ts";
import { signInTick } from "../../identity/jobs/expired-rows.ts";
import { renewFactorsTick } from "../../identity/jobs/renew-factors.ts";
import { signingSecrets } from "../../identity/signing-secret.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import type { AuditReport } from "../../ledger/audit/audit.ts";
import type { AuditKind } from "../../ledger/audit/run.ts";
import { partitionTick } from "../../ledger/jobs/partitions.ts";
import { forgetCallbacksTick } from "../../merchant/jobs/callbacks.ts";
import type { Tick } from "../../workers/tick.ts";
import type { Config } from "../config/config.ts";
import { auditTicks, witnessesOf } from "./audit.ts";
import { presetCatalog } from "./catalog.ts";
import type { Payouts } from "./payouts.ts";

type NodeWork = Pick<Payouts, "chains"> & {
  readonly config: Config;
  readonly logger: Pick<EventLogger, "warn" | "error">;
};

/** Work that one process of a node does for all of them. */
export function nodeTicks(pool: Pool, { logger, config, chains }: NodeWork): Tick[] {
  const onViolations = (audit: AuditKind, { violations, hasMore }: AuditReport): void =>
    logger.error({ event: "ledger.audit.violation", audit, violations, hasMore }, "the audit found violations");
  const onMissed = (accountIds: readonly string[]): void =>
    logger.error({ event: "billing.usage.recomputed", accountIds }, "roll-ups of usage had missed a record");
  return [
    partitionTick(pool),
    forgetFiguresTick(pool),
    signInTick(pool, config),
    forgetCallbacksTick(pool, config.callbackLogDays),
    forgetAlertsTick(pool, config.webhookLogDays),
    renewFactorsTick({
      pool,
      secrets: () => signingSecrets(pool, config.authSecrets),
      onUnreadable: (personId) =>
        logger.error(
          { event: "identity.factor.unreadable", personId },
          "a second factor is encrypted under a secret that is not in SALDO_AUTH_SECRET",
        ),
    }),
    retriesTick(pool),
    usageTick(pool, onMissed),
    ...auditTicks({
      pool,
      presetModels: presetCatalog(config).presetModels,
      witnesses: () => witnessesOf(config, chains),
      onViolations,
      onNotCompared: (audit, what) =>
        logger.warn({ event: "ledger.audit.not_compared", audit, what }, "the audit could not compare everything"),
    }),
  ];
}
