import { approveTransfer, setLimits, rejectTransfer } from "../operator/commands/transfers.ts";
import type { Command, CommandValues } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { CURRENCIES, uuidOption } from "./option-values.ts";

const which = { required: true, value: "ID", about: "the transfer" };

export const transferCommands: readonly Command[] = [
  {
    name: "merchant limit",
    about: "Sets a merchant's limits for a currency, in place of those before. Left out: no such limit.",
    options: {
      merchant: { required: true, value: "ID", about: "the merchant" },
      currency: { required: true, value: "CODE", about: "the currency, such as TRX", choices: CURRENCIES },
      "per-transfer": { required: false, value: "AMOUNT", about: "the most of one transfer, in whole coins" },
      daily: { required: false, value: "AMOUNT", about: "the most of a day in Asia/Jakarta" },
      "approval-above": { required: false, value: "AMOUNT", about: "above this an operator has to approve" },
      reason: { required: false, value: "R", about: "why" },
    },
    async run(values, { database }) {
      const limits = await setLimits(await operatorHere(database), {
        merchantId: uuidOption(values.need("merchant"), "merchant"),
        currencyCode: values.need("currency"),
        perTransfer: values.get("per-transfer") ?? "",
        daily: values.get("daily") ?? "",
        approvalAbove: values.get("approval-above") ?? "",
        reason: values.get("reason") ?? null,
      });
      return { json: { ...limits } };
    },
  },
  {
    name: "transfer approve",
    about: "Approves a transfer that waits for approval.",
    options: { transfer: which, reason: { required: false, value: "R", about: "why, for the records" } },
    async run(values, { database }) {
      const { transfer, isNew } = await approveTransfer(await operatorHere(database), {
        transferId: transferOption(values),
        note: values.get("reason") ?? null,
      });
      return { json: { transferId: transfer.transferId, status: transfer.status, isNew } };
    },
  },
  {
    name: "transfer reject",
    about: "Rejects a transfer of which nothing is signed and gives back what the balance holds for it.",
    options: { transfer: which, reason: { required: true, value: "R", about: "why, for the merchant" } },
    async run(values, { database }) {
      const { transfer, isNew } = await rejectTransfer(await operatorHere(database), {
        transferId: transferOption(values),
        reason: values.need("reason"),
      });
      return { json: { transferId: transfer.transferId, status: transfer.status, isNew } };
    },
  },
];

function transferOption(values: CommandValues): string {
  return uuidOption(values.need("transfer"), "transfer");
}
