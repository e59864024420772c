// What the gateway reports besides its answers: logged, and counted for the metrics.

import type { GatewayEvent } from "../../gateway/answer/exchange.ts";
import { loggableEvent } from "../../gateway/answer/loggable-event.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import type { DatabaseOptions } from "../../database/database.ts";
import { describeHolder } from "../../database/schema/migration-lock.ts";
import type { LateSettlement } from "../../ledger/group-commit/group-commit.ts";

export type GatewayEvents = {
  readonly report: (event: GatewayEvent) => void;
  /** How often each kind was reported of each upstream. */
  readonly counts: () => Iterable<GatewayEventCount>;
};

/** `upstream` is empty where the event is about none. */
export type GatewayEventCount = {
  readonly kind: GatewayEvent["kind"];
  readonly upstream: string;
  readonly count: number;
};

/** Makes the receiver of a gateway's reports. */
export function createGatewayEvents(logger: Pick<EventLogger, "warn">): GatewayEvents {
  const counts = new Map<string, GatewayEventCount>();
  return {
    counts: () => counts.values(),
    report(event) {
      const { kind } = event;
      const upstream = "upstream" in event ? event.upstream : "";
      const name = `${kind} ${upstream}`;
      counts.set(name, { kind, upstream, count: (counts.get(name)?.count ?? 0) + 1 });
      logger.warn({ event: `gateway.${kind}`, ...loggableEvent(event) }, kind.replaceAll("_", " "));
    },
  };
}

/** Logs each settlement that came after a recovery of its request: this process did not run for longer than its lease. */
export function lateLog(logger: Pick<EventLogger, "warn">): (late: LateSettlement) => void {
  return ({ requestId, accountId, late, cost, charge }) => {
    const money = { costIdr: formatMoney(idr(cost)), chargeIdr: formatMoney(idr(charge)) };
    logger.warn({ event: "ledger.settlement.late", requestId, accountId, late, ...money }, "late settlement");
  };
}

const MISDATED_EVERY_MS = 60_000;

/** Logs that the database refuses requests for the time of their ids, once a minute. */
export function misdatedLog(
  logger: Pick<EventLogger, "error">,
  nowMs = () => performance.now(),
): (err: unknown) => void {
  let nextMs = -Infinity;
  return (err) => {
    if (nowMs() < nextMs) return;
    nextMs = nowMs() + MISDATED_EVERY_MS;
    logger.error(
      { event: "ledger.request.misdated", err },
      "the database refuses requests for the time of their ids: set its clock and that of this machine right",
    );
  };
}

/** Owed settlements that nothing settles, and lines that cannot be read. */
type LeftOwed = { readonly foreign: number; readonly damaged: number };

/** Logs a write of owed settlements that the disk did not take. */
export function unwrittenLog(logger: Pick<EventLogger, "error">): (err: unknown) => void {
  return (err) => {
    logger.error(
      { event: "ledger.owed.unwritten", err },
      "the disk did not take owed settlements: they are written again",
    );
  };
}

/** Logs what nothing settles of the files that ended processes have left. */
export function leftOwedLog(logger: Pick<EventLogger, "error" | "warn">): (left: LeftOwed) => void {
  return ({ foreign, damaged }) => {
    if (foreign > 0)
      logger.warn(
        { event: "ledger.owed.foreign", settlements: foreign },
        "settlements that are owed in another history of the books are not settled: saldo recover report",
      );
    if (damaged > 0)
      logger.error(
        { event: "ledger.owed.damaged", lines: damaged },
        "lines of owed settlements cannot be read; their files were kept: saldo recover report",
      );
  };
}

/** Logs when reads that may lag no longer go to the standby, with the reason, and when they do again. */
export function readSourceLog(
  logger: Pick<EventLogger, "info" | "warn">,
): NonNullable<DatabaseOptions["onReadSource"]> {
  return (reason) =>
    reason === null
      ? logger.info({ event: "database.reads.standby" }, "usage is read from the standby")
      : logger.warn(
          { event: "database.reads.primary", reason },
          "usage is read from the primary, not from the standby",
        );
}

/** Logs which server is the primary, at first and after each failover. */
export function primaryLog(logger: Pick<EventLogger, "info">): NonNullable<DatabaseOptions["onPrimary"]> {
  return ({ host, port }) => logger.info({ event: "database.primary", host, port }, "the database's primary");
}

/** Logs that a start waits for another one, which changes the schema. */
export function schemaWaitLog(logger: Pick<EventLogger, "warn">): NonNullable<DatabaseOptions["onSchemaWait"]> {
  return (holder) =>
    logger.warn(
      { event: "database.schema.waits", ...holder },
      `${describeHolder(holder)} changes the schema, and this start waits for it`,
    );
}
