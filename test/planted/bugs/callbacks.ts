// Guards of addresses that others chose, and of callbacks to them.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const source = (file: string, find: string, replace: string): Edit => ({ file: `src/${file}`, find, replace });
const merchant = (file: string, find: string, replace: string): Edit => ({
  file: `src/merchant/${file}`,
  find,
  replace,
});
const ofMerchant = (file: string, test: string) => ({ file: `test/merchant/${file}.test.ts`, test });
const database = (file: string, find: string, replace: string): Edit => ({
  file: `src/database/${file}`,
  find,
  replace,
});
const KEPT = {
  file: "test/database/kept-callback-log.test.ts",
  test: "none of its rows is deleted that is young, open or of an open transfer",
};
const KEPT_WEBHOOKS = "test/database/kept-webhook-log.test.ts";
const connector = (test: string) => ({ file: "src/outbound/public-connector.test.ts", test });

/** Each with the test that must notice it. */
export const CALLBACK_BUGS: readonly PlantedBug[] = [
  {
    name: "an address that stands in a URL is not looked at",
    edits: [source("outbound/public-connector.ts", "isIP(host) !== 0 && isRefused(host)", "isIP(host) === 1")],
    noticedBy: connector("however they are written"),
  },
  {
    name: "a name passes with one good address",
    edits: [source("outbound/public-connector.ts", "addresses.some(", "addresses.every(")],
    noticedBy: connector("when any of its addresses is private"),
  },
  {
    name: "the capitals of an address are not looked at",
    edits: [merchant("addresses/evm.ts", "isMixed && address !== normalized", "isMixed && address === digits")],
    noticedBy: { file: "src/merchant/addresses/addresses.test.ts", test: "of the case of a checksummed EVM address" },
  },
  {
    name: "an event is written without its callback",
    edits: [merchant("transfers/transfer-store.ts", ", callback AS (${INSERT_CALLBACK_OF_EVENT})", "")],
    noticedBy: ofMerchant("callbacks", "is sent once, in order, signed"),
  },
  {
    name: "whoever takes a delivery has it for no time",
    edits: [source("callbacks/delivery-store.ts", `const LEASE = "60 seconds";`, `const LEASE = "0 seconds";`)],
    noticedBy: ofMerchant("callback-faults", "attempt an event one at a time"),
  },
  {
    name: "what is written down late undoes what others have done",
    edits: [
      source(
        "callbacks/delivery-store.ts",
        "AND attempts = $2 AND is_leased RETURNING",
        "AND attempts >= $2 RETURNING",
      ),
    ],
    noticedBy: ofMerchant("callback-faults", "does not undo later changes of others"),
  },
  {
    name: "an older status is told after a newer one",
    edits: [
      source(
        "callbacks/delivery-store.ts",
        `await client.query(this.#sql.dropOlder, [eventId, END_TEXTS.laterDelivered]);`,
        "",
      ),
    ],
    noticedBy: ofMerchant("callback-order", "which is not sent after a later one"),
  },
  {
    name: "any answer with 2xx is taken for OK",
    edits: [source("callbacks/send-callback.ts", "takesAnySuccess || (isWhole && saysOk(text))", "text !== null")],
    noticedBy: ofMerchant("callback-receivers", "answers something else"),
  },
  {
    name: "a callback that is still to be sent is forgotten",
    edits: [
      database("functions/callback_log.sql", "(d.state = 'pending' OR d.give_up_at", "(d.give_up_at"),
      database("functions/callback_log.sql", "AND d.state <> 'pending' AND d.give_up_at", "AND d.give_up_at"),
    ],
    noticedBy: {
      file: "test/app/callback-log.test.ts",
      test: "neither what is still to be sent nor the transfer",
    },
  },
  {
    name: "callbacks of a transfer that has not ended are forgotten",
    edits: [database("functions/callback_log.sql", " AND t.status IN ('CONFIRMED', 'REJECTED', 'CANCELED')", "")],
    noticedBy: KEPT,
  },
  {
    name: "whoever serves may have the log of callbacks forget everything",
    edits: [
      database(
        "functions/callback_log.sql",
        "d.give_up_at >= clock_timestamp() - greatest(days, 90)",
        "d.give_up_at >= clock_timestamp() - days",
      ),
      database(
        "functions/callback_log.sql",
        "uuid_floor(clock_timestamp() - greatest(days, 90)",
        "uuid_floor(clock_timestamp() - days",
      ),
      database("functions/callback_log.sql", "public.callbacks_are_over(of_transfer, 90)", "true"),
    ],
    noticedBy: KEPT,
  },
  {
    name: "the owner of the tables changes attempts of callbacks",
    edits: [
      database(
        "migrations/0020-callback-log.sql",
        "BEFORE UPDATE OR DELETE ON callback_attempt",
        "BEFORE DELETE ON callback_attempt",
      ),
    ],
    noticedBy: KEPT,
  },
  {
    name: "a post of an alert that is still to be sent is forgotten",
    edits: [
      database("functions/webhook_log.sql", "AND d.state <> 'pending' AND d.give_up_at", "AND d.give_up_at"),
      database("functions/webhook_log.sql", "AND d.state <> 'pending' AND d.give_up_at", "AND d.give_up_at"),
    ],
    noticedBy: { file: KEPT_WEBHOOKS, test: "forgets what has ended and is older than was asked" },
  },
  {
    name: "whoever serves may have the log of webhooks forget everything",
    edits: [
      database(
        "functions/webhook_log.sql",
        "uuid_floor(clock_timestamp() - greatest(days, 90)",
        "uuid_floor(clock_timestamp() - days",
      ),
      database(
        "functions/webhook_log.sql",
        "d.give_up_at < clock_timestamp() - greatest(days, 90)",
        "d.give_up_at < clock_timestamp() - days",
      ),
      database("functions/webhook_log.sql", "public.webhook_is_over(OLD.event_id, 90)", "true"),
    ],
    noticedBy: { file: KEPT_WEBHOOKS, test: "and none of its rows is deleted that is young or open" },
  },
];
