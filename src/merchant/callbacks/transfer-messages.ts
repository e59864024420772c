// What merchants are sent: a transfer as it was at the event.

import type { CallbackPlaces } from "../../callbacks/callback-url.ts";
import { CallbackDeliverer, type CallbackMessage, type DelivererOptions } from "../../callbacks/deliver-callbacks.ts";
import type { ClaimedDelivery } from "../../callbacks/delivery-store.ts";
import { invariant } from "../../kernel/invariant.ts";
import { type Transfer, transferAt, type TransferEvent } from "../transfers/transfer.ts";
import { readEvents, readTransfer } from "../transfers/transfer-store.ts";
import { MERCHANT_CALLBACKS } from "./store.ts";

export type MerchantDelivererOptions = Omit<DelivererOptions, "kind" | "messageOf" | keyof CallbackPlaces> &
  CallbackPlaces & {
    /** The JSON text of a transfer as it was, with its history until then. */
    readonly writeBody: (transfer: Transfer, history: readonly TransferEvent[]) => string;
  };

/** What delivers the statuses of transfers to their merchants. */
export function createMerchantDeliverer({ writeBody, ...options }: MerchantDelivererOptions): CallbackDeliverer {
  const { pool } = options.database;
  const messageOf = async ({ eventId, subjectId }: ClaimedDelivery): Promise<CallbackMessage> => {
    const transfer = await readTransfer(pool, subjectId);
    const events = await readEvents(pool, subjectId);
    const at = events.findIndex((event) => event.eventId === eventId);
    const event = events[at];
    invariant(transfer !== undefined && event !== undefined, "a delivery reports an event of its transfer");
    const { environment } = transfer;
    return { environment, body: writeBody(transferAt(transfer, event), events.slice(0, at + 1)) };
  };
  return new CallbackDeliverer({ ...options, kind: MERCHANT_CALLBACKS, messageOf });
}
