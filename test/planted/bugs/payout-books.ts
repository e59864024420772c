// Guards of a wallet's books: the journal of what was signed, the history of the database, and an address that was used elsewhere.

import type { PlantedBug } from "../planted-bug.ts";
import { payoutTest as test, payouts } from "./payouts.ts";

/** Each with the test that must notice it. */
export const PAYOUT_BOOKS: readonly PlantedBug[] = [
  {
    name: "a transfer whose lost payment a journal has is canceled",
    edits: [
      {
        file: "src/merchant/payouts/payout-store.ts",
        find: "SELECT FROM payout_lost_attempt l WHERE l.resolved_at IS NULL AND (l.transfer_id",
        replace: "SELECT FROM payout_lost_attempt l WHERE false AND (l.transfer_id",
      },
    ],
    noticedBy: {
      file: "test/merchant/payouts/lost-orders.test.ts",
      test: "is not canceled nor rejected while a journal",
    },
  },
  {
    name: "what we bore of a transfer stays with its merchant when it is not paid",
    edits: [
      {
        file: "src/merchant/transfers/transfer-states.ts",
        find: "    await takeUncoveredBack(client, { ...transfer, asset: fund.asset });\n",
        replace: "",
      },
    ],
    noticedBy: { file: "test/merchant/payouts/lost-orders.test.ts", test: "gives back what we bore" },
  },
  {
    name: "a transaction is broadcast before the journal has it",
    edits: [
      payouts("advance-payout.ts", "  await work.journal?.add(entryOf(payout, attempt));\n", ""),
      payouts(
        "advance-payout.ts",
        '  failpoint?.("after-payout-broadcast");',
        '  await work.journal?.add(entryOf(payout, attempt));\n  failpoint?.("after-payout-broadcast");',
      ),
    ],
    noticedBy: test("books-guard", "has what goes out before the network has it"),
  },
  {
    name: "a transaction goes out that the journal did not take",
    edits: [
      payouts(
        "advance-payout.ts",
        "work.journal?.add(entryOf(payout, attempt));",
        "work.journal?.add(entryOf(payout, attempt)).catch(() => {});",
      ),
    ],
    noticedBy: test("books-guard", "that cannot be written keeps a transaction from the network"),
  },
  {
    name: "what a journal has and the books lack is not looked for",
    edits: [payouts("books-guard.ts", "if (lost.length > 0)", "if (lost.length > 1_000)")],
    noticedBy: test("books-guard", "stop the wallet, which goes on with the very transactions"),
  },
  {
    name: "a resume leaves out what a journal has",
    edits: [
      payouts("restore-attempts.ts", "    if (plan === null) continue;\n", "    if (plan !== undefined) continue;\n"),
    ],
    noticedBy: test("books-guard", "stop the wallet, which goes on with the very transactions"),
  },
  {
    name: "a wallet follows a failover that may have lost payments",
    edits: [
      payouts(
        "books-guard.ts",
        "!isChanged || this.#options.requiresStandby;",
        "!isChanged || this.#compared !== null;",
      ),
    ],
    noticedBy: test("books-history", "where no synchronous standby is required"),
  },
  {
    name: "a wallet follows a failover without every journal",
    edits: [payouts("books-guard.ts", "if (uncompared.length > 0)", "if (uncompared.length > 1_000)")],
    noticedBy: test("books-history", "stop the wallet while a journal is out of reach"),
  },
  {
    name: "a wallet follows a failover at once",
    edits: [payouts("books-guard.ts", "if (!this.#isTermOver(history))", "if (!this.#isTermOver(history) && false)")],
    noticedBy: test("books-history", "are followed where every journal agrees"),
  },
  {
    name: "books that end before a final nonce are taken for whole",
    edits: [payouts("books-guard.ts", "if (finalNonce !== null && finalNonce >= nextNonce)", "if (finalNonce === -1)")],
    noticedBy: test("books-history", "beyond their end"),
  },
  {
    name: "a wallet that the books have lost begins at the chain's nonce",
    edits: [payouts("payout-engine.ts", "guard === null ? await chain.nextNonce() : 0;", "await chain.nextNonce();")],
    noticedBy: test("books-guard", "and no wallet let it begin at the first nonce"),
  },
  {
    name: "a transfer that the books have lost is not made again with its payment",
    edits: [
      payouts(
        "resume-wallet.ts",
        "if (made !== null) remade.push(made);\n  }\n  return remade;",
        "if (made !== null) remade.push(made);\n  }\n  return [];",
      ),
    ],
    noticedBy: test("lost-orders", "is made again with its payment, and its merchant's repeated order returns it"),
  },
  {
    name: "a resume leaves the payment of a lost transfer to strangers",
    edits: [
      payouts(
        "resume-wallet.ts",
        "    if (!adopts) {\n      const message = `nonce ${unknown.nonce} was",
        "    if (!adopts) continue;\n    if (!adopts) {\n      const message = `nonce ${unknown.nonce} was",
      ),
    ],
    noticedBy: test("lost-orders", "is made again with its payment, and its merchant's repeated order returns it"),
  },
  {
    name: "a lost transfer's payment becomes that of another transfer",
    edits: [payouts("adopt-payments.ts", "transferOf.get(each.hash) ?? own", "own")],
    noticedBy: test("lost-orders", "takes no other transfer's place"),
  },
  {
    name: "what a fund lacks of a lost transfer is not borne",
    edits: [payouts("lost-transfers.ts", "if (lacking <= 0n) return null;", "if (lacking < 1n << 90n) return null;")],
    noticedBy: test("lost-orders", "is ours to bear where the fund does not have its total"),
  },
  {
    name: "a journal's transfer is made again although the chain has paid another",
    edits: [payouts("lost-transfers.ts", "known !== null && pays(each, known) &&", "known !== null &&")],
    noticedBy: test("lost-orders", "lets the same order wait for an operator, where it"),
  },
  {
    name: "an order that a foreign transaction may have paid is signed",
    edits: [
      {
        file: "src/merchant/transfers/create-transfer.ts",
        find: "const awaitsApproval = isLarge || paidBy !== null;",
        replace: "const awaitsApproval = isLarge && paidBy !== null;",
      },
      {
        file: "src/merchant/transfers/create-transfer.ts",
        find: "if (paidBy !== null) return mayBePaid(paidBy);",
        replace: "",
      },
    ],
    noticedBy: test("lost-orders", "lets the same order wait for an operator, where it"),
  },
  {
    name: "a broken line of a journal is passed over",
    edits: [
      payouts(
        "signed-journal.ts",
        "    const lines = whole.map((line, index)",
        "    const lines = whole.flatMap((line, index)",
      ),
      payouts(
        "signed-journal.ts",
        "      if (parsed === null) throw new JournalBroken(`${name} has a broken line ${index + 1} in ${this.folder}`);\n      return parsed;",
        "      return parsed === null || index < 0 ? [] : [parsed];",
      ),
    ],
    noticedBy: { file: "src/merchant/payouts/signed-journal.test.ts", test: "takes no broken line within a file" },
  },
  {
    name: "a journal forgets what has not ended",
    edits: [payouts("signed-journal.ts", "!entries.every(", "!entries.some(")],
    noticedBy: { file: "src/merchant/payouts/signed-journal.test.ts", test: "removes an old file when everything" },
  },
  {
    name: "an address that has sent before gets a wallet that pays",
    edits: [payouts("payout-engine.ts", "const haltReason = sent === 0 ? null", "const haltReason = sent >= 0 ? null")],
    noticedBy: test("used-address", "what it has paid is adopted instead of paid again"),
  },
  {
    name: "an address is taken for new while its payments wait for a block",
    edits: [
      payouts(
        "payout-engine.ts",
        "Math.max(await chain.nextNonce(), await chain.pendingNonce())",
        "await chain.nextNonce()",
      ),
    ],
    noticedBy: test("used-address", "before the chain has what waits for a block"),
  },
  {
    name: "a resume pays while unknown payments wait for a block",
    edits: [payouts("resume-wallet.ts", "usedByChain + waiting > end", "usedByChain > end")],
    noticedBy: test("used-address", "before the chain has what waits for a block"),
  },
  {
    name: "a wallet signs again behind the chain's nonces",
    edits: [
      payouts("resume-wallet.ts", "if (usedByChain <= end) return resumed;", "if (usedByChain >= 0) return resumed;"),
    ],
    noticedBy: test("used-address", "stays stopped while the chain has used more nonces"),
  },
  {
    name: "a nonce is taken that the chain has used",
    edits: [payouts("payout-engine.ts", "if (used > wallet.nextNonce) return 0;", "")],
    noticedBy: test("used-address", "takes no nonce that the chain has used"),
  },
  {
    name: "a wallet that has paid begins at a nonce that an operator names",
    edits: [
      payouts("resume-wallet.ts", "if (await hasPaid(client, wallet.walletId))", "if (wallet.haltedAt === null)"),
    ],
    noticedBy: test("used-address", "begins at a nonce that an operator names"),
  },
  {
    name: "a wallet without a history is compared with nothing",
    edits: [
      payouts(
        "books-guard.ts",
        "if (uncompared.length > 0) reasons",
        "if (isChanged && uncompared.length > 0) reasons",
      ),
    ],
    noticedBy: test("books-history", "stop a wallet without a history"),
  },
  {
    name: "a history leaves out the numbers of the database",
    edits: [
      {
        file: "src/database/history.ts",
        find: "return isServer && (one.books ?? other.books) === (other.books ?? one.books);",
        replace: "return isServer;",
      },
    ],
    noticedBy: { file: "test/database/history.test.ts", test: "a history is another one in a copy" },
  },
  {
    name: "books that pg_restore made pass for the former ones",
    edits: [
      payouts(
        "wallet-store.ts",
        'if (!isSameHistory(history, now)) return "other";',
        'if (!isSameHistory({ ...history, books: null }, now)) return "other";',
      ),
      payouts("wallet-store.ts", 'return history.books === now.books ? "same" : "unrecorded";', 'return "same";'),
    ],
    noticedBy: test("books-history", "where pg_restore made them again"),
  },
  {
    name: "a stop with another reason ends with the journals",
    edits: [
      payouts(
        "wallet-store.ts",
        "concat_ws('; ', halt_reason, $2::text), awaits_journals_at = NULL",
        "concat_ws('; ', halt_reason, $2::text), awaits_journals_at = awaits_journals_at + (clock_timestamp() - halted_at)",
      ),
      payouts("wallet-store.ts", "coalesce(awaits_journals_at = halted_at, false)", "awaits_journals_at IS NOT NULL"),
    ],
    noticedBy: test("node-journals", "keep a stop that has another reason"),
  },
  {
    name: "a stop ends before every journal was compared",
    edits: [
      payouts(
        "books-guard.ts",
        "trustsFormer: false })).length > 0) return;",
        "trustsFormer: false })).length > 99) return;",
      ),
    ],
    noticedBy: test("node-journals", "end a stop for a journal out of reach"),
  },
  {
    name: "a forgotten journal ends the stop that waits for it",
    edits: [
      payouts(
        "forget-journals.ts",
        "await awaitNoJournals(client, id);",
        "if (id === host) await awaitNoJournals(client, id);",
      ),
    ],
    noticedBy: test("node-journals", "forgotten by an operator"),
  },
  {
    name: "a journal is forgotten while its node lives",
    edits: [payouts("forget-journals.ts", "(owned_at IS NULL OR owned_at <=", "(owned_at IS NULL OR owned_at >=")],
    noticedBy: test("node-journals", "forgotten by an operator"),
  },
  {
    name: "a node whose journal cannot be written keeps the wallet",
    edits: [payouts("payout-engine.ts", 'if (this.#books === "no journal") await this.resign();\n', "")],
    noticedBy: test("node-journals", "go on without the one whose journal"),
  },
  {
    name: "a copied journal is taken for the original",
    edits: [
      payouts("own-journal.ts", "!(await journal.owners()).includes(owner)", "(await journal.owners()).length === 0"),
    ],
    noticedBy: test("node-journals", "notice a volume that was copied"),
  },
  {
    name: "a full disk gets another file for each try",
    edits: [
      payouts(
        "signed-journal.ts",
        "if (file.entries === 0) await rm(path, { force: true });",
        "this.#leaveFile();\n    if (file.entries === 0) await rm(path, { force: true });",
      ),
    ],
    noticedBy: { file: "src/merchant/payouts/signed-journal.test.ts", test: "makes no other file for each try" },
  },
  {
    name: "what a full disk has cut off stays before the next entry",
    edits: [payouts("signed-journal.ts", "    else await truncate(path, file.bytes);\n", "")],
    noticedBy: { file: "src/merchant/payouts/signed-journal.test.ts", test: "makes no other file for each try" },
  },
  {
    name: "a wallet stands still without a report while its node does not show who used a nonce",
    edits: [
      payouts(
        "payout-engine.ts",
        `if (holder === null) report({ kind: "holder_unknown", chain: chain.name, nonce: wallet.nextNonce });
    else await`,
        "if (holder !== null) await",
      ),
    ],
    noticedBy: test("used-address", "though its node does not show by whom, and reports that"),
  },
  {
    name: "a payout waits without a report while its node does not show who used its nonce",
    edits: [payouts("advance-payout.ts", "if (isUsed && holder === null) onHolderUnknown(payout.nonce);", "")],
    noticedBy: test("used-address", "and reports that the node does not show it"),
  },
];
