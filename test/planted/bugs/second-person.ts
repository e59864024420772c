// Guards against one person and one chain node: who approves, what is believed of a node, and what stops payouts.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const edit = (file: string, find: string, replace: string): Edit => ({ file: `src/${file}`, find, replace });
const payouts = (file: string, find: string, replace: string): Edit => edit(`merchant/payouts/${file}`, find, replace);
const lying = (test: string) => ({ file: "test/merchant/payouts/lying-nodes.test.ts", test });
const stopped = (test: string) => ({ file: "test/merchant/payouts/stopped-payouts.test.ts", test });
const sums = (test: string) => ({ file: "test/operator/second-person-sums.test.ts", test });
const second = (test: string) => ({ file: "test/operator/second-person.test.ts", test });

export const SECOND_PERSON_BUGS: readonly PlantedBug[] = [
  {
    name: "a person approves an own command",
    edits: [
      edit(
        "operator/second-person/approvals.ts",
        "if (found.requestedBy.toLowerCase() === by.operator.toLowerCase()) {",
        "if (found.requestedBy === '') {",
      ),
      edit(
        "database/migrations/0001-baseline/11-operator.sql",
        "CHECK (state <> 'approved' OR lower(decided_by) <> lower(ordered_by))",
        "CHECK (true)",
      ),
    ],
    noticedBy: second("takes effect once another operator approves"),
  },
  {
    name: "a command above the sum is carried out at once",
    edits: [
      edit("operator/second-person/approvals.ts", " && !isAboveSum(rule, look.amount)", ""),
      edit(
        "operator/second-person/carried-out-alone.ts",
        "if (isAboveSum(rule, commanded, sum))",
        "if (isAboveSum(rule, commanded, sum) && sum === '')",
      ),
    ],
    noticedBy: second("takes effect once another operator approves"),
  },
  {
    name: "an operator's command does not wait for the row of its day",
    edits: [edit("operator/second-person/carried-out-alone.ts", "await waitForLocks(client);", "void waitForLocks;")],
    noticedBy: sums("an order waits for another one of its operator that takes long"),
  },
  {
    name: "many commands below the sum pass it",
    edits: [
      edit(
        "operator/second-person/carried-out-alone.ts",
        "if (isAboveSum(rule, commanded, sum))",
        "if (isAboveSum(rule, commanded))",
      ),
    ],
    noticedBy: sums("orders of one operator count together"),
  },
  {
    name: "a command that waits is carried out alone once the day has room for it",
    edits: [
      edit(
        "operator/second-person/approvals.ts",
        "if ((await readStored(pool, wanted)) === undefined) {",
        "if (wanted.approvalId !== '') {",
      ),
    ],
    noticedBy: sums("is not carried out alone a day later"),
  },
  {
    name: "parallel commands of an operator do not wait for each other",
    edits: [
      edit(
        "operator/second-person/carried-out-alone.ts",
        "await client.query<{ sum: string }>(LOCK",
        "await by.database.pool.query<{ sum: string }>(LOCK",
      ),
    ],
    noticedBy: sums("orders of one operator at once do not pass the sum together"),
  },
  {
    name: "an expired command is carried out",
    edits: [
      edit(
        "operator/second-person/approvals.ts",
        'if (state === "pending") return;',
        'if (state === "pending" || state === "expired") return;',
      ),
    ],
    noticedBy: second("expires"),
  },
  {
    name: "a credit of a production merchant needs nobody",
    edits: [
      edit(
        "operator/second-person/command-kinds.ts",
        '(await requireMerchant(pool, command.merchantId)) === "production" ? "two operators" : "one operator",\n    carryOut: creditMerchant',
        '(await requireMerchant(pool, command.merchantId)) === "sandbox" ? "two operators" : "one operator",\n    carryOut: creditMerchant',
      ),
    ],
    noticedBy: second("in production waits, however small"),
  },
  {
    name: "a height that has no block makes a payment final",
    edits: [
      edit(
        "merchant/chains/evm/finality.ts",
        "if (header === null) return doubt(",
        "if (header === null) break;\n      if (below === '') return doubt(",
      ),
    ],
    noticedBy: lying("by a height that it does not have"),
  },
  {
    name: "blocks that do not descend from a payment's make it final",
    edits: [edit("merchant/chains/evm/finality.ts", "header.parentHash !== below", "header.parentHash === '0x'")],
    noticedBy: lying("by blocks that do not descend"),
  },
  {
    name: "a head that leaps is believed",
    edits: [payouts("payout-engine.ts", "if (believed === null) return head;", "if (believed !== -1) return head;")],
    noticedBy: lying("by a height that the chain cannot have reached"),
  },
  {
    name: "the second node is never asked",
    edits: [
      edit("merchant/chains/evm/evm-chain.ts", "|| second === null ||", "|| second === null || second !== null ||"),
    ],
    noticedBy: lying("only where the second node agrees"),
  },
  {
    name: "a final payment that vanishes is left as it is",
    edits: [payouts("recheck-payouts.ts", "if (isThere === null) continue;", "if (isThere !== true) continue;")],
    noticedBy: lying("and that was final and vanishes"),
  },
  {
    name: "a node that lags is taken for a chain that has lost a payment",
    edits: [payouts("recheck-payouts.ts", "if (isThere === null) continue;", "")],
    noticedBy: lying("left alone while it is there, or the node lags"),
  },
  {
    name: "a token that keeps a part has paid",
    edits: [edit("merchant/chains/evm/evm-chain.ts", "succeeded: false, isShort: true", "succeeded: true")],
    noticedBy: lying("of a token that keeps a part"),
  },
  {
    name: "payouts go on though an operator has stopped them",
    edits: [
      payouts("choose-transfers.ts", "haltReason !== null || (await isStopped(client, wallet))", "haltReason !== null"),
      payouts("payout-engine.ts", "if (await isStopped(pool, wallet)) return 0;", ""),
    ],
    noticedBy: stopped("stop while an operator says so, on every engine"),
  },
  {
    name: "what is signed is broadcast while payouts are stopped",
    edits: [payouts("advance-payout.ts", "if (!work.mayBroadcast) return;", "")],
    noticedBy: stopped("are not handed over again while they are stopped"),
  },
  {
    name: "two engines together send more than the day's cap",
    edits: [
      payouts(
        "choose-transfers.ts",
        "    if (!(await countOnDay(client, { walletId, asset, units, cap: dailyCaps[asset] }))) return false;\n",
        "    await countOnDay(client, { walletId, asset, units, cap: dailyCaps[asset] });\n",
      ),
    ],
    noticedBy: stopped("of two engines together stay within the cap"),
  },
  {
    name: "the transfers of a frozen account are paid",
    edits: [
      payouts(
        "payout-store.ts",
        "WHERE id = (SELECT account_id FROM merchant",
        "WHERE frozen_at IS NULL AND id = (SELECT account_id FROM merchant",
      ),
    ],
    noticedBy: stopped("of a frozen account wait"),
  },
  {
    name: "nobody says why the transfers of a frozen account wait",
    edits: [payouts("payout-engine.ts", "    await letFrozenWait(pool, serves);\n", "")],
    noticedBy: stopped("of a frozen account wait"),
  },
  {
    name: "a transfer that a stop of payouts holds says nothing",
    edits: [
      payouts("waiting-transfers.ts", "if (!(await isStopped(pool, wallet))) return;", "if (wallet !== null) return;"),
    ],
    noticedBy: {
      file: "test/merchant/payouts/stopped-payouts.test.ts",
      test: "stop while an operator says so, on every engine, and go on afterwards",
    },
  },
  {
    name: "a new production merchant has a limit of a day for one currency",
    edits: [
      edit(
        "merchant/merchants/limits-store.ts",
        "SELECT m.id, d.currency_code, d.per_transfer, d.daily,",
        "SELECT m.id, d.currency_code, d.per_transfer, CASE d.currency_code WHEN 'USDT' THEN d.daily END,",
      ),
    ],
    noticedBy: { file: "test/merchant/split-sums.test.ts", test: "a production merchant has a daily limit" },
  },
  {
    name: "a fee below its floor stands",
    edits: [edit("merchant/transfers/quote.ts", "ownFee.units < leastFee ?", "ownFee.units < 0n ?")],
    noticedBy: { file: "test/merchant/calculate.test.ts", test: "raises a fee below it" },
  },
  {
    name: "a catalog over the network sends a known key to a new host",
    edits: [edit("catalog/apply-catalog.ts", "if (remote === undefined) return;", "if (remote !== null) return;")],
    noticedBy: { file: "test/operator/catalog.test.ts", test: "takes neither a private address nor a new host" },
  },
  {
    name: "a command is in no log of the account that it changes",
    edits: [
      {
        file: "src/operator/audit-log/operator-actions.ts",
        find: "if (inAccount !== null) await recordAccountChange(client, inAccount);",
        replace: "",
      },
    ],
    noticedBy: { file: "test/operator/account-activity.test.ts", test: "is a line of the account that it changes" },
  },
  {
    name: "the account's log names the operator",
    edits: [
      {
        file: "src/operator/audit-log/operator-actions.ts",
        find: "await recordAccountChange(client, inAccount);",
        replace: "await recordAccountChange(client, { ...inAccount, facts: { ...inAccount.facts, by: operator } });",
      },
    ],
    noticedBy: { file: "test/operator/account-activity.test.ts", test: "is a line, too, and names no operator" },
  },
];
