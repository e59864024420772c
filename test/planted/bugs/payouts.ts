// Guards of payouts: what keeps a transfer from reaching its chain twice, or being given back while it still can.

import type { Edit, PlantedBug } from "../planted-bug.ts";

/** A change of a file of payouts. */
export const payouts = (file: string, find: string, replace: string): Edit => ({
  file: `src/merchant/payouts/${file}`,
  find,
  replace,
});
/** A test of payouts with a database, and perhaps a node. */
export const payoutTest = (file: string, name: string) => ({
  file: `test/merchant/payouts/${file}.test.ts`,
  test: name,
});
const test = payoutTest;
const rule = (name: string) => ({ file: "src/merchant/payouts/next-step.test.ts", test: name });
const bytes = (name: string) => ({ file: "src/merchant/payouts/audit-signed-bytes.test.ts", test: name });

/** Those whose tests need neither a database nor a node. */
export const PAYOUT_RULES: readonly PlantedBug[] = [
  {
    name: "a payment that nobody knows counts as dead",
    edits: [
      payouts(
        "next-step.ts",
        "  if (holder !== null) {",
        '  if (attempts.length > 0 && attempts.every(({ seen }) => seen.status === "unknown")) return { kind: "displace", foreignHash: "" };\n  if (holder !== null) {',
      ),
    ],
    noticedBy: rule("never ends on silence"),
  },
  {
    name: "a payout is displaced before the other transaction is final",
    edits: [payouts("next-step.ts", 'holder.isFinal ? "displace" : "stop signing"', '"displace"')],
    noticedBy: rule("stops signing while the other transaction may still go"),
  },
  {
    name: "a payout is settled before its block is final",
    edits: [payouts("next-step.ts", 'seen.isFinal ? "settle" : "note mined"', '"settle"')],
    noticedBy: rule("settles what is final, and only that"),
  },
  {
    name: "what the network has once taken is given up",
    edits: [payouts("next-step.ts", "!attempt.wasSeen && seen.status", "seen.status")],
    noticedBy: rule("gives up only what the network has never taken"),
  },
  {
    name: "what fills a nonce outbids a payment that the network has refused",
    edits: [
      payouts("next-step.ts", "attempt.kind === kind || attempt.wasSeen", "attempt.hash !== kind || attempt.wasSeen"),
    ],
    noticedBy: rule("outbids the highest offer that the network may hold"),
  },
  {
    name: "the audit takes the recipient of signed bytes from the books",
    edits: [payouts("audit-signed-bytes.ts", "!isSameAddress(contents.to, due.to)", "!isSameAddress(due.to, due.to)")],
    noticedBy: bytes("finds another recipient, amount, currency, nonce, hash and key"),
  },
  {
    name: "the audit takes a stranger's signature",
    edits: [payouts("audit-signed-bytes.ts", "signer !== null && isSameAddress(signer, wallet)", "signer !== null")],
    noticedBy: bytes("finds another recipient, amount, currency, nonce, hash and key"),
  },
];

export const PAYOUTS: readonly PlantedBug[] = [
  {
    name: "the audit asks no node what it has of a payout",
    edits: [
      payouts(
        "audit-chain.ts",
        'if (seen.status !== "mined") return',
        'if (seen.status !== "mined") return null; if (seen === null) return',
      ),
    ],
    noticedBy: test("audit-chain", "the audit of payouts against their chain"),
  },
  {
    name: "the audit has each payout's block judged for finality",
    edits: [payouts("audit-chain.ts", "{ ...head, final: -1 }", "head")],
    noticedBy: test("audit-chain", "does not ask whether a block is final"),
  },
  {
    name: "the audit takes a node that does not answer for one that agrees",
    edits: [payouts("audit-chain.ts", "if (head === null) return unreachable();", "if (head === null) return;")],
    noticedBy: test("audit-chain", "reports payouts that it could not compare"),
  },
  {
    name: "a payment is broadcast before it is stored",
    edits: [
      payouts(
        "advance-payout.ts",
        '  failpoint?.("after-payout-signed");\n',
        '  await chain.broadcast(signed.raw).catch(() => undefined);\n  failpoint?.("after-payout-signed");\n',
      ),
    ],
    noticedBy: test("deaths", "leaves what the next one ends, once"),
  },
  {
    name: "what is sent again takes a new nonce",
    edits: [
      payouts(
        "advance-payout.ts",
        ".sign({ nonce: payout.nonce,",
        ".sign({ nonce: payout.nonce + payout.attempts.length,",
      ),
    ],
    noticedBy: test("evm-payouts", "that is stuck is replaced with the same nonce"),
  },
  {
    name: "an attempt is stored whoever was first",
    edits: [
      payouts(
        "advance-payout.ts",
        "if (!(await storeAttempt(pool, attempt))) return true;",
        "await storeAttempt(pool, attempt);",
      ),
    ],
    noticedBy: test("races", "of two signers stores one attempt"),
  },
  {
    name: "an attempt does not look at those before it",
    edits: [payouts("payout-store.ts", "AND p.attempts = $2 - 1 ", "")],
    noticedBy: test("races", "of two signers stores one attempt"),
  },
  {
    name: "two payouts get the same transfer",
    edits: [
      payouts(
        "payout-store.ts",
        "AND NOT t.awaits_approval AND ${NO_LIVING_PAYOUT}\n  AND ${OWNER_SERVED}\nFOR NO KEY",
        "AND NOT t.awaits_approval\n  AND ${OWNER_SERVED}\nFOR NO KEY",
      ),
      {
        file: "src/database/migrations/0001-baseline/10-payouts.sql",
        find: "CREATE UNIQUE INDEX payout_living ON payout (transfer_id) WHERE state <> 'displaced'",
        replace: "CREATE INDEX payout_living ON payout (transfer_id) WHERE state <> 'displaced'",
      },
    ],
    noticedBy: test("races", "of two choosers gives a transfer one nonce"),
  },
  {
    name: "a transaction of our own that an engine did not know counts as a stranger's",
    edits: [
      payouts("foreign-transaction.ts", "    if (await isOwnTransaction(client, hash)) return false;\n", ""),
      payouts("payout-store.ts", "AND ${OPEN} AND p.attempts = $2 FOR", "AND ${OPEN} AND $2::int IS NOT NULL FOR"),
    ],
    noticedBy: test("evm-colleagues", "asks its own record who the stranger is"),
  },
  {
    name: "a payout is displaced though it was signed again meanwhile",
    edits: [
      payouts("payout-store.ts", "AND ${OPEN} AND p.attempts = $2 FOR", "AND ${OPEN} AND $2::int IS NOT NULL FOR"),
    ],
    noticedBy: test("evm-colleagues", "displaces nothing that was signed again"),
  },
  {
    name: "a wallet signs again though our own transaction counts as a stranger's",
    edits: [payouts("resume-wallet.ts", "if (wrong !== null) {", "if (wrong === -1) {")],
    noticedBy: test("evm-colleagues", "displaces nothing that was signed again"),
  },
  {
    name: "a transfer that is being sent is told to wait",
    edits: [payouts("choose-transfers.ts", "    if (await hasPayoutBegun(client, transferId)) return;\n", "")],
    noticedBy: test("evm-colleagues", "lets nothing wait for coins that is being sent"),
  },
  {
    name: "an engine goes on though it has lost its wallet",
    edits: [payouts("choose-transfers.ts", "  if (!(await work.keepsLease())) return 0;\n", "")],
    noticedBy: test("evm-colleagues", "ends its round when it has lost the wallet"),
  },
  {
    name: "what is lost is not sent again while it cannot be outbid",
    edits: [
      payouts("advance-payout.ts", "if (step.otherwise !== null) await handOver(work, payout, step.otherwise);", ""),
    ],
    noticedBy: test("evm-fees", "that the node has lost is sent again"),
  },
  {
    name: "errors of a node quote its URL",
    edits: [
      {
        file: "src/merchant/chains/evm/evm-chain.ts",
        find: "return withoutUrlInErrors(chain, [",
        replace: "return 1 + 1 === 2 ? chain : withoutUrlInErrors(chain, [",
      },
    ],
    noticedBy: { file: "src/merchant/chains/evm/node-error.test.ts", test: "contains the key of a node's URL" },
  },
  {
    name: "a crowd that waits for one coin keeps the others back",
    edits: [
      payouts(
        "choose-transfers.ts",
        "for (const currency of chain.currencies) {\n    found.push(...(await readCandidates(pool, { ...serves, currencies: [currency], limit })));",
        "{\n    found.push(...(await readCandidates(pool, { ...serves, currencies: chain.currencies, limit })));",
      ),
    ],
    noticedBy: test("evm-payouts", "of one coin goes out though a crowd waits"),
  },
  {
    name: "a reverted payment is confirmed",
    edits: [payouts("settle-payout.ts", "(mined.succeeded ||", "(mined.status === 'mined' ||")],
    noticedBy: test("evm-payouts", "is rejected, and the funds are back once"),
  },
  {
    name: "a payout ends as often as somebody ends it",
    edits: [
      payouts(
        "payout-store.ts",
        "interval '1 minute' END\nWHERE p.id = $1::uuid AND ${OPEN}`",
        "interval '1 minute' END\nWHERE p.id = $1::uuid`",
      ),
    ],
    noticedBy: test("races", "of two settlements ends a payout once"),
  },
  {
    name: "a token that moved nothing counts as paid",
    edits: [
      {
        file: "src/merchant/chains/evm/evm-chain.ts",
        find: "if (payment === null || contract === null) return { succeeded: true };",
        replace: "if (payment === null || contract !== undefined) return { succeeded: true };",
      },
    ],
    noticedBy: {
      file: "test/contracts/payout-chain.test.ts",
      test: "mined transaction that did not pay that it did not",
    },
  },
];
