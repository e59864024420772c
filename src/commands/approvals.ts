import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { readDefaultLimits } from "../merchant/merchants/limits-store.ts";
import { setDefaultLimits, showLimits } from "../merchant/merchants/limits.ts";
import { listApprovals } from "../operator/second-person/approval-store.ts";
import { grantApproval, refuseApproval } from "../operator/second-person/approvals.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { CURRENCIES, uuidOption } from "./option-values.ts";
import { column, numbers, tableOf } from "./table.ts";

const MOST_LISTED = 200;
const which = { required: true, value: "ID", about: "the approval" };

export const approvalCommands: readonly Command[] = [
  {
    name: "approval list",
    about: "Lists the commands that wait for a second operator.",
    options: {},
    async run(_values, { database }) {
      const { pool } = await database();
      const approvals = await listApprovals(pool, { state: "pending", beforeId: null, limit: MOST_LISTED });
      const shown = approvals.map(({ payload: _payload, ...approval }) => approval);
      return {
        json: { approvals: shown },
        text: tableOf(
          shown,
          [
            column("approval", ({ approvalId }) => approvalId),
            column("command", ({ kind }) => kind),
            column("subject", ({ subject }) => subject),
            column("currency", ({ facts }) => facts["currencyCode"] ?? null),
            numbers("amount", ({ facts }) => facts["amount"] ?? null),
            column("requested by", ({ requestedBy }) => requestedBy),
          ],
          "No command waits for a second operator.",
        ),
      };
    },
  },
  {
    name: "approval grant",
    about: "Approves another operator's command and carries it out.",
    options: { approval: which, reason: { required: false, value: "R", about: "why, for the records" } },
    async run(values, { database }) {
      const { approval, isNew } = await grantApproval(await operatorHere(database), {
        approvalId: uuidOption(values.need("approval"), "approval"),
        reason: values.get("reason") ?? null,
      });
      return { json: { approvalId: approval.approvalId, state: approval.state, isNew } };
    },
  },
  {
    name: "approval refuse",
    about: "Refuses a command that waits for a second operator.",
    options: { approval: which, reason: { required: true, value: "R", about: "why" } },
    async run(values, { database }) {
      const { approval, isNew } = await refuseApproval(await operatorHere(database), {
        approvalId: uuidOption(values.need("approval"), "approval"),
        reason: values.need("reason"),
      });
      return { json: { approvalId: approval.approvalId, state: approval.state, isNew } };
    },
  },
  {
    name: "merchant default-limit",
    about: "Sets the limits that new production merchants begin with. Without --currency it lists them.",
    options: {
      currency: { required: false, value: "CODE", about: "the currency, such as USDT", choices: CURRENCIES },
      "per-transfer": { required: false, value: "AMOUNT", about: "the most of one transfer, in whole coins" },
      daily: { required: false, value: "AMOUNT", about: "the most of a day in Asia/Jakarta" },
      "approval-above": { required: false, value: "AMOUNT", about: "above this an operator has to approve" },
    },
    async run(values, { database }) {
      const by = await operatorHere(database);
      const currencyCode = values.get("currency");
      if (currencyCode !== undefined) {
        const order = {
          currencyCode,
          perTransfer: values.get("per-transfer") ?? "",
          daily: values.get("daily") ?? "",
          approvalAbove: values.get("approval-above") ?? "",
        };
        await withAuditLog(
          by,
          (client) => setDefaultLimits(client, order),
          () => ({ action: "merchant default-limit", subject: null, reason: null, facts: order, inAccount: null }),
        );
      }
      const { pool } = await database();
      const limits = (await readDefaultLimits(pool)).map(showLimits);
      return {
        json: { limits },
        text: tableOf(
          limits,
          [
            column("currency", (each) => each.currencyCode),
            numbers("per transfer", (each) => each.perTransfer),
            numbers("daily", (each) => each.daily),
            numbers("approval above", (each) => each.approvalAbove),
          ],
          "New production merchants begin without limits.",
        ),
      };
    },
  },
];
