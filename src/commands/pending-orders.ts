import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { readDefaultLimits } from "../merchant/merchants/limits-store.ts";
import { setDefaultLimits, showLimits } from "../merchant/merchants/limits.ts";
import { listOrders } from "../operator/second-person/order-store.ts";
import { approveOrder, refuseOrder } from "../operator/second-person/pending-orders.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { uuidOption } from "./option-values.ts";

const MOST_LISTED = 200;
const which = { required: true, value: "ID", about: "the order" };

export const pendingOrderCommands: readonly Command[] = [
  {
    name: "order list",
    about: "Lists the orders that wait for a second operator.",
    options: {},
    async run(_values, { database }) {
      const { pool } = await database();
      const orders = await listOrders(pool, { state: "pending", beforeId: null, limit: MOST_LISTED });
      const shown = orders.map(({ payload: _payload, ...order }) => order);
      return {
        json: { orders: shown },
        text: shown
          .map(({ orderId, kind, subject, facts, orderedBy }) =>
            [orderId, kind, subject, `${facts["currencyCode"]} ${facts["amount"]}`, `by ${orderedBy}`].join("  "),
          )
          .join("\n"),
      };
    },
  },
  {
    name: "order approve",
    about: "Approves another operator's order and carries it out.",
    options: { order: which, reason: { required: false, value: "R", about: "why, for the records" } },
    async run(values, { database }) {
      const { order, isNew } = await approveOrder(await operatorHere(database), {
        orderId: uuidOption(values.need("order"), "order"),
        reason: values.get("reason") ?? null,
      });
      return { json: { orderId: order.orderId, state: order.state, isNew } };
    },
  },
  {
    name: "order refuse",
    about: "Refuses an order that waits for a second operator.",
    options: { order: which, reason: { required: true, value: "R", about: "why" } },
    async run(values, { database }) {
      const { order, isNew } = await refuseOrder(await operatorHere(database), {
        orderId: uuidOption(values.need("order"), "order"),
        reason: values.need("reason"),
      });
      return { json: { orderId: order.orderId, state: order.state, isNew } };
    },
  },
  {
    name: "merchant default-limit",
    about: "Sets the limits that new production merchants begin with. Without --currency it lists them.",
    options: {
      currency: { required: false, value: "CODE", about: "the currency, such as USDT" },
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
          () => ({ action: "merchant default-limit", subject: null, reason: null, facts: order }),
        );
      }
      const { pool } = await database();
      return { json: { limits: (await readDefaultLimits(pool)).map(showLimits) } };
    },
  },
];
