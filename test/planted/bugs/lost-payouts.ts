// Guards of lost payments that do not fit into the books of now, or whose bytes are not what their journal has.

import type { PlantedBug } from "../planted-bug.ts";
import { payoutTest as test, payouts } from "./payouts.ts";

/** Each with the test that must notice it. */
export const LOST_PAYOUTS: readonly PlantedBug[] = [
  {
    name: "a lost transfer whose nonce another one had is paid again",
    edits: [
      payouts(
        "adopt-payments.ts",
        "    if (transfer === undefined) continue;\n",
        "    if (transfer === undefined || (own !== null && own !== transfer.id)) continue;\n",
      ),
    ],
    noticedBy: test("lost-conflicts", "is made again as paid, and the other one"),
  },
  {
    name: "the payment of a lost transfer counts for another one that orders the same",
    edits: [
      payouts("adopt-payments.ts", "transferOf.get(each.hash) ?? own,", "own ?? transferOf.get(each.hash) ?? null,"),
    ],
    noticedBy: test("lost-conflicts", "is not taken for the payment of another one"),
  },
  {
    name: "a displaced nonce is judged by a second resume again",
    edits: [payouts("adopt-payments.ts", "ELSE l.resolved_at IS NULL END", "ELSE ${IS_OPEN} END")],
    noticedBy: test("lost-conflicts", "is not taken for the payment of another one"),
  },
  {
    name: "a lost payment is passed over where the payout that it displaced has ended otherwise",
    edits: [
      payouts("adopt-payments.ts", "ELSE l.resolved_at IS NULL END", "ELSE l.resolved_at IS NULL AND ${IS_OPEN} END"),
    ],
    noticedBy: test("lost-conflicts", "is made again where the other one was rejected"),
  },
  {
    name: "a payout that is displaced while the chain is asked is not looked at",
    edits: [payouts("resume-wallet.ts", "  await requireSameDisplaced(client, found);\n", "")],
    noticedBy: test("lost-conflicts", "is not passed over where the nonce is used up"),
  },
  {
    name: "a reverted transaction in the place of a displaced payout counts as its payment",
    edits: [
      payouts(
        "displaced-nonces.ts",
        'succeeded ? "paid" : isShort ? "short" : "nothing"',
        'succeeded || !isShort ? "paid" : "short"',
      ),
    ],
    noticedBy: test("lost-conflicts", "is not made again where the network has reverted"),
  },
  {
    name: "a lost transfer whose name another order has stays lost",
    edits: [payouts("lost-transfers.ts", ' OR NOT ${isSameOrder("o", "$4::jsonb")})', ")")],
    noticedBy: test("lost-conflicts", "is made again under another name"),
  },
  {
    name: "an order by the name of a lost transfer is not canceled",
    edits: [payouts("payout-store.ts", `\n    AND \${isSameOrder("t", "l.transfer")})) AS none`, ")) AS none")],
    noticedBy: test("lost-conflicts", "is shown while it is lost, and does not keep"),
  },
  {
    name: "a payment by a token that is not configured is taken for nothing",
    edits: [
      payouts("resume-wallet.ts", "  await requireReadable(client, { chain: found.chain, unknown: own, lost });\n", ""),
    ],
    noticedBy: test("lost-bytes", "is not taken for nothing where it is not"),
  },
  {
    name: "the bytes of a lost payment are not compared before they go out again",
    edits: [
      payouts(
        "restore-attempts.ts",
        "  if (first === undefined || wrong === null) return;",
        "  if (first === undefined || wrong !== undefined) return;",
      ),
    ],
    noticedBy: test("lost-bytes", "is not sent again where its journal was changed"),
  },
  {
    name: "a lost payment that another key has signed goes out",
    edits: [
      payouts(
        "journal-bytes.ts",
        "differenceOf(attempt) ?? (await foreignSignature(attempt));",
        "differenceOf(attempt);",
      ),
    ],
    noticedBy: test("lost-bytes", "is not sent again where its journal was changed"),
  },
  {
    name: "a lost payment by another token's contract goes out",
    edits: [
      payouts(
        "journal-bytes.ts",
        "tokens[due.currency] ?? null } : {};",
        'tokens[due.currency] ?? null } : {};\n    if ("contract" in contract) Reflect.deleteProperty(contract, "contract");',
      ),
    ],
    noticedBy: test("lost-bytes", "is not sent again where its journal was changed"),
  },
];
