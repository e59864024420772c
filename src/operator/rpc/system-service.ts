import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { SystemService } from "#gen/saldo/operator/v1/system_service_pb.ts";
import { type DoneAction, listActions } from "../audit-log/operator-actions.ts";
import { type BillingSettings, readBillingSettings } from "../../billing/settings.ts";
import { systemClock } from "../../kernel/clock.ts";
import { isUuid } from "../../kernel/ids.ts";
import { type AdmissionStop, readAdmissionStop } from "../../ledger/admission-switch.ts";
import { startAdmissions, stopAdmissions } from "../commands/admission.ts";
import { readPage } from "../../kernel/paging.ts";
import { readOverview } from "./proto-overview.ts";
import { fromRupiah, given, orNull, type Parts, rupiah, timeRange } from "./proto-parts.ts";
import { updateSettings } from "../commands/settings.ts";

/** SystemService: settings, the switch of admissions, and what operators did. */
export function createSystemService({
  database: { pool },
  operatorContext,
  isSellerMissing,
}: Pick<Parts, "database" | "operatorContext" | "isSellerMissing">): ServiceImpl<typeof SystemService> {
  return {
    getOverview: () => readOverview({ pool, isSellerMissing }, systemClock.now()),

    async getSettings() {
      return { settings: toProtoSettings(await readBillingSettings(pool)) };
    },

    async updateSettings({ settings, reason }, context) {
      const wanted = { welcomeCredit: fromRupiah(settings?.welcomeCredit ?? "") };
      const command = { settings: wanted, reason: orNull(reason) };
      return { settings: toProtoSettings(await updateSettings(operatorContext(context), command)) };
    },

    async getAdmission() {
      return { admission: toProtoAdmission(await readAdmissionStop(pool)) };
    },

    async stopAdmission({ reason }, context) {
      return { admission: toProtoAdmission(await stopAdmissions(operatorContext(context), { reason })) };
    },

    async startAdmission(_request, context) {
      return { admission: toProtoAdmission(await startAdmissions(operatorContext(context))) };
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
  };
}

/** Most subjects are ids, written down in small letters; what is none stays as it is. */
function plain(subject: string | undefined): string | undefined {
  return subject !== undefined && isUuid(subject) ? subject.toLowerCase() : subject;
}

function toProtoSettings({ welcomeCredit }: Pick<BillingSettings, "welcomeCredit">) {
  return { welcomeCredit: rupiah(welcomeCredit) };
}

function toProtoAdmission(stop: AdmissionStop) {
  return stop === null
    ? { stopped: false }
    : { stopped: true, since: timestampFromDate(stop.since), reason: stop.reason };
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
