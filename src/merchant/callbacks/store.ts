// The tables of merchants' callbacks, and the statement that makes a callback of an event. The rest of their SQL is in `callbacks/`.

import { createCallbackKind } from "../../callbacks/callback-kind.ts";
import { GIVE_UP_AFTER } from "../../callbacks/delivery-reasons.ts";

/** Merchants, who are called about the states of their transfers, in the order of each transfer. */
export const MERCHANT_CALLBACKS = createCallbackKind({
  settings: "callback_settings",
  delivery: "callback_delivery",
  attempt: "callback_attempt",
  receiver: "merchant_id",
  subject: "transfer_id",
  hasToken: true,
  forget: "forget_callbacks",
  about: { table: "transfer_event", column: "status" },
});

/** The secrets of merchants' callbacks. */
export const CALLBACK_SECRETS = MERCHANT_CALLBACKS.settings.secrets;

/**
 * Makes the callback of an event that the statement around it has written. Later events of a transfer are due no sooner than
 * one before them that waits for a receiver who is away.
 */
export const INSERT_CALLBACK_OF_EVENT = `
INSERT INTO callback_delivery (event_id, event_at, transfer_id, merchant_id, next_attempt_at, give_up_at)
SELECT event.id, event.created_at, t.id, s.merchant_id,
  coalesce((SELECT max(d.next_attempt_at) FROM callback_delivery d
    WHERE d.transfer_id = t.id AND d.state = 'pending' AND NOT d.is_leased AND NOT d.is_passable), event.created_at),
  event.created_at + interval '${GIVE_UP_AFTER}'
FROM event JOIN transfer t ON t.id = event.transfer_id
  JOIN callback_settings s ON s.merchant_id = t.merchant_id AND s.url IS NOT NULL AND s.stopped_at IS NULL`;
