import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MarginGroup as ProtoGroup } from "#gen/saldo/operator/v1/operation_pb.ts";
import { type DoneAction, listActions } from "../audit-log/operator-actions.ts";
import { MARGIN_GROUPS, type MarginGroup, type MarginLine, reportMargin } from "../../billing/usage/margin.ts";
import { type BillingSettings, readBillingSettings } from "../../billing/settings.ts";
import { DAY_MS, isBillingDay, startOfBillingDay } from "../../kernel/clock.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { type AdmissionStop, readAdmissionStop } from "../../ledger/admission-switch.ts";
import { type AuditRun, readAuditRuns } from "../../ledger/audit/run.ts";
import { orderStart, orderStop } from "../commands/admission-orders.ts";
import { readPage } from "./paging.ts";
import { fromRupiah, given, type Methods, moment, orNull, type Parts, rupiah, timeRange } from "./proto-parts.ts";
import { orderSettings } from "../commands/settings-orders.ts";

/** The days of one report: it reads by the hour and gently, and an operator waits for it. */
const MAX_MARGIN_DAYS = 31;
const MAX_MARGIN_LINES = 1_000;

const protoGroup = {
  model: ProtoGroup.MODEL,
  upstream: ProtoGroup.UPSTREAM,
  account: ProtoGroup.ACCOUNT,
} as const satisfies Record<MarginGroup, ProtoGroup>;

/** The settings, the switch of admissions, the audits, what operators did, and the margin. */
export function operationMethods({
  database: { pool },
  orderedBy,
}: Parts): Methods<
  | "getSettings"
  | "updateSettings"
  | "getAdmission"
  | "stopAdmission"
  | "startAdmission"
  | "listAudits"
  | "listOperatorActions"
  | "reportMargin"
> {
  return {
    async getSettings() {
      return { settings: toProtoSettings(await readBillingSettings(pool)) };
    },

    async updateSettings({ settings, reason }, context) {
      const wanted = { welcomeCredit: fromRupiah(settings?.welcomeCredit ?? "") };
      const order = { settings: wanted, reason: orNull(reason) };
      return { settings: toProtoSettings(await orderSettings(orderedBy(context), order)) };
    },

    async getAdmission() {
      return { admission: toProtoAdmission(await readAdmissionStop(pool)) };
    },

    async stopAdmission({ reason }, context) {
      return { admission: toProtoAdmission(await orderStop(orderedBy(context), { reason })) };
    },

    async startAdmission(_request, context) {
      return { admission: toProtoAdmission(await orderStart(orderedBy(context))) };
    },

    async listAudits() {
      return { audits: (await readAuditRuns(pool)).map(toProtoAudit) };
    },

    async listOperatorActions(request) {
      const filter = {
        ...given("operator", request.filter?.operator),
        ...given("action", request.filter?.action),
        ...given("subject", plain(request.filter?.subject)),
        ...timeRange(request.filter),
      };
      const page = await readPage(
        request,
        (range) => listActions(pool, { filter, ...range }),
        ({ actionId }) => actionId,
      );
      return { actions: page.items.map(toProtoAction), nextPageToken: page.nextPageToken };
    },

    async reportMargin({ from, to, by }) {
      requireDays(from, to);
      const { lines, total } = await reportMargin(pool, {
        from,
        to,
        by: MARGIN_GROUPS.find((group) => protoGroup[group] === by) ?? "model",
      });
      const shown = [...lines].slice(0, MAX_MARGIN_LINES);
      return { lines: shown.map(([key, line]) => toProtoLine(key, line)), total: toProtoLine("", total) };
    },
  };
}

/** Most subjects are ids, written down in small letters; what is none stays as it is. */
function plain(subject: string | undefined): string | undefined {
  return subject !== undefined && isUuid(subject) ? subject.toLowerCase() : subject;
}

function requireDays(from: string, to: string): void {
  for (const [field, day] of Object.entries({ from, to })) {
    if (!isBillingDay(day)) throw wrongDay(field, "must be a day such as 2026-11-21");
  }
  const days = (startOfBillingDay(to) - startOfBillingDay(from)) / DAY_MS + 1;
  if (days < 1 || days > MAX_MARGIN_DAYS) {
    throw wrongDay("to", `must be the first day or up to ${MAX_MARGIN_DAYS - 1} days later`);
  }
}

function wrongDay(field: string, message: string): ValidationError {
  return new ValidationError([{ field, rule: "margin.days", message }]);
}

function toProtoSettings({ welcomeCredit }: BillingSettings) {
  return { welcomeCredit: rupiah(welcomeCredit) };
}

function toProtoAdmission(stop: AdmissionStop) {
  return stop === null
    ? { stopped: false }
    : { stopped: true, since: timestampFromDate(stop.since), reason: stop.reason };
}

function toProtoAudit({ kind, startedAt, finishedAt, coveredAt, violations, found }: AuditRun) {
  return {
    kind,
    ...moment("startedAt", startedAt),
    ...moment("finishedAt", finishedAt),
    ...moment("coveredUntil", coveredAt),
    violationCount: violations,
    violations: found.map((violation) => ({ ...violation })),
  };
}

function toProtoAction({ actionId, operator, action, subject, reason, facts, doneAt }: DoneAction) {
  return {
    id: actionId,
    operator,
    action,
    subject: subject ?? "",
    reason: reason ?? "",
    facts: JSON.stringify(facts),
    doneAt: timestampFromDate(doneAt),
  };
}

function toProtoLine(key: string, { requests, withoutCost, ...money }: MarginLine) {
  return {
    key,
    requests,
    revenue: rupiah(money.revenue),
    credited: rupiah(money.credited),
    upstreamCost: rupiah(money.upstreamCost),
    margin: rupiah(money.margin),
    uncollected: rupiah(money.uncollected),
    unbilled: rupiah(money.unbilled),
    withoutCost,
  };
}
