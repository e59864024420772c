// Guards of money that comes in through payment providers.

import { type Edit, ledger, type PlantedBug } from "../planted-bug.ts";

const topUps = (file: string, find: string, replace: string): Edit => ({
  file: `src/billing/top-ups/${file}`,
  find,
  replace,
});
const payments = (file: string, find: string, replace: string): Edit => ({
  file: `src/billing/payments/${file}`,
  find,
  replace,
});
const crediting = (test: string) => ({ file: "test/top-ups/crediting.test.ts", test });
const providerFees = (test: string) => ({ file: "test/top-ups/provider-fees.test.ts", test });
const givingBack = (test: string) => ({ file: "test/top-ups/giving-back.test.ts", test });

/** Each with the test that must notice it. */
export const TOP_UP_BUGS: readonly PlantedBug[] = [
  {
    name: "a payment of an order that the books do not have is not counted",
    edits: [
      {
        file: "src/billing/top-ups/find-top-ups.ts",
        find: "top_up_id IS NULL AND finding = 'unknown_order'",
        replace: "top_up_id IS NOT NULL AND finding = 'unknown_order'",
      },
    ],
    noticedBy: {
      file: "test/top-ups/crediting.test.ts",
      test: "of an order that the books do not have is listed for operators, and counted",
    },
  },
  {
    name: "the amount of a payment is not compared",
    edits: [topUps("apply-payment.ts", "if (facts.amount === null || facts.amount < paid) {", "if (false) {")],
    noticedBy: crediting("for an order of more is not credited"),
  },
  {
    name: "what was paid is credited instead of what was ordered",
    edits: [
      topUps(
        "apply-payment.ts",
        'if (decision.steps.includes("paid")) await credit(client, topUp);',
        'if (decision.steps.includes("paid")) await credit(client, { ...topUp, amount: facts.amount ?? topUp.amount });',
      ),
    ],
    noticedBy: crediting("with a fee for the payer on top is credited as ordered"),
  },
  {
    name: "the status of a payment is trusted from the notification's body",
    edits: [
      topUps(
        "take-notification.ts",
        'failpoint?.("mid-webhook");',
        `failpoint?.("mid-webhook");
  if (notification.status === "settlement") {
    const { applyPayment } = await import("./apply-payment.ts");
    const facts = { state: "paid", amount: 10n ** 30n, givenBack: 0n, reference: null } as const;
    await applyPayment(database, notification.orderId, facts);
  }`,
      ),
    ],
    noticedBy: crediting("that an edited notification calls settled is not"),
  },
  {
    name: "an event of a provider is not unique",
    edits: [
      {
        file: "src/database/migrations/0001-baseline/08-billing.sql",
        find: "CONSTRAINT payment_event_once UNIQUE (provider, event_key)",
        replace: "CONSTRAINT payment_event_once CHECK (event_key <> '')",
      },
      topUps("store.ts", "ON CONFLICT (provider, event_key) DO NOTHING RETURNING id", "RETURNING id"),
    ],
    noticedBy: crediting("reported in 50 copies at once to two processes is one event"),
  },
  {
    name: "neither the account nor the top-up is locked before a payment is applied",
    edits: [
      topUps("apply-payment.ts", "await lockAccount(client, known.accountId);", ""),
      topUps("store.ts", "WHERE t.id = $1::uuid FOR NO KEY UPDATE OF t`", "WHERE t.id = $1::uuid`"),
    ],
    noticedBy: crediting("asked about by twenty at once, on two processes, is credited once"),
  },
  {
    name: "another provider's word wakes an order",
    edits: [topUps("take-notification.ts", "named?.provider === provider ? named : null", "named")],
    noticedBy: crediting("belongs to the provider it was opened at"),
  },
  {
    name: "money that comes after the order has expired is lost",
    edits: [topUps("states.ts", "  expired: closed,", "  expired: {},")],
    noticedBy: { file: "src/billing/top-ups/states.test.ts", test: "that is reported" },
  },
  {
    name: "what was given back is taken whole each time",
    edits: [topUps("apply-payment.ts", "const amount = back.net - topUp.givenBack;", "const amount = back.net;")],
    noticedBy: givingBack("by the difference to what was taken before"),
  },
  {
    name: "a payment that was canceled after it was credited stays credited",
    edits: [
      topUps(
        "check-top-ups.ts",
        "const contradicts = asked.isCredited && isUnpaid(facts.state);",
        "const contradicts = false;",
      ),
    ],
    noticedBy: givingBack("by canceling a payment that was credited"),
  },
  {
    name: "one old answer takes a credit back",
    edits: [topUps("check-top-ups.ts", "if (contradicts) facts = await provider.ask(asked);", "")],
    noticedBy: givingBack("or that is not given twice"),
  },
  {
    name: "what the bank took back is not added to what the provider gave back",
    edits: [payments("midtrans/midtrans-provider.ts", '["refund_amount", "chargeback_amount"]', '["refund_amount"]')],
    noticedBy: givingBack("in part by the provider and then by the payer's bank"),
  },
  {
    name: "an older report moves a chargeback back to a refund",
    edits: [topUps("apply-payment.ts", 'if (topUp.state === "charged_back" && !grows) {', "if (false) {")],
    noticedBy: givingBack("no less and no other for an older report"),
  },
  {
    name: "what an account owes is not collected",
    edits: [
      ledger("credits.ts", "if (before.owed > 0n) await client.query(COLLECT", "if (false) await client.query(COLLECT"),
    ],
    noticedBy: givingBack("collected first from what it buys next"),
  },
  {
    name: "a provider's fee is posted beside the one that an operator posted by hand",
    edits: [
      topUps("provider-money.ts", "if (await isPostedInGroup(client, { groupId: topUpId, reason: FEE })) return;", ""),
    ],
    noticedBy: providerFees("is posted by hand once for each reference"),
  },
  {
    name: "what is paid above an order is not posted",
    edits: [topUps("provider-money.ts", "amount: above(paid),", "amount: 0n,")],
    noticedBy: providerFees("is posted beside the credit"),
  },
  {
    name: "a fee that is known later than its payment is not posted",
    edits: [
      topUps(
        "apply-payment.ts",
        "    if (isPaid) await postProviderMoney(client, topUp, facts);\n    return",
        "    return",
      ),
    ],
    noticedBy: providerFees("is posted also where it is known later"),
  },
  {
    name: "what an account no longer has is forgotten instead of owed",
    edits: [topUps("apply-payment.ts", "if (taken < amount) await owe(", "if (taken > amount) await owe(")],
    noticedBy: givingBack("is owed, and collected first"),
  },
  {
    name: "the sandbox is there in every service that is not called production",
    edits: [
      {
        file: "src/app/config/payments.ts",
        find: 'sandbox: demo || (!production && text("SALDO_PAYMENT_PROVIDER") === "sandbox"),',
        replace: "sandbox: demo || !production,",
      },
    ],
    noticedBy: { file: "src/app/config/config.test.ts", test: "sells play money in a demo" },
  },
  {
    name: "one account may follow as many top-ups as there is room for",
    edits: [topUps("watch-top-ups.ts", "if (watchers >= MOST_WATCHERS_OF_ACCOUNT)", "if (watchers >= MOST_WATCHERS)")],
    noticedBy: { file: "test/top-ups/watching.test.ts", test: "an account follows ten at a time" },
  },
  {
    name: "the next answer of the provider forgets a dispute",
    edits: [topUps("apply-payment.ts", "const dispute = isSettled ? null : topUp.dispute;", "const dispute = null;")],
    noticedBy: { file: "test/top-ups/notifications.test.ts", test: "is shown to the operator until it is won" },
  },
  {
    name: "a dispute that has ended is opened again by what comes late",
    edits: [topUps("disputes.ts", "WHERE d.state = 'open' OR excluded.state <> 'open'`", "`")],
    noticedBy: { file: "test/top-ups/notifications.test.ts", test: "is over once it has ended" },
  },
  {
    name: "a refund that was refused is in the account's log",
    edits: [
      payments("sandbox/sandbox-desk.ts", "if (returned !== null) await record(client);", "await record(client);"),
    ],
    noticedBy: { file: "test/operator/top-up-commands.test.ts", test: "has no line where nothing is given back" },
  },
  {
    name: "a refund stays whose line cannot be written",
    edits: [payments("sandbox/sandbox-desk.ts", "movePayment(client, to, PAID)", "movePayment(pool, to, PAID)")],
    noticedBy: {
      file: "test/operator/top-up-commands.test.ts",
      test: "is not given back where its line cannot be written",
    },
  },
  {
    name: "only the first page of refunds is read",
    edits: [
      payments("xendit/xendit-provider.ts", 'if (body["has_more"] !== true || last', 'if (afterId === "" || last'),
    ],
    noticedBy: { file: "test/top-ups/notifications.test.ts", test: "behind the first page" },
  },
  {
    name: "what is told above the most events of an order is lost",
    edits: [
      topUps(
        "take-notification.ts",
        "isFull || (await insertEvent(client, event))",
        "!isFull && (await insertEvent(client, event))",
      ),
    ],
    noticedBy: { file: "test/top-ups/notifications.test.ts", test: "above the most that are kept" },
  },
  {
    name: "an order may be opened a second time while the first call may still open it",
    edits: [payments("xendit/xendit-provider.ts", "opensWithinMs: 2 * timeoutMs", "opensWithinMs: timeoutMs")],
    noticedBy: { file: "test/top-ups/creating.test.ts", test: "is opened by no other call for as long" },
  },
  {
    name: "a notification's signature is not looked at",
    edits: [
      payments(
        "midtrans/midtrans-provider.ts",
        'serverKey !== "" && isSameSecret(textOf(notification, "signature_key"), expected)',
        'expected !== ""',
      ),
    ],
    noticedBy: {
      file: "test/contracts/payment-provider.test.ts",
      test: "takes no notification whose proof is",
    },
  },
  {
    name: "an empty token verifies notifications that have none",
    edits: [payments("xendit/xendit-provider.ts", 'callbackToken !== "" && typeof token', "typeof token")],
    noticedBy: { file: "test/contracts/payment-wire.test.ts", test: "takes no notification without a token" },
  },
];
