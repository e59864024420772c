// Guards of automatic top-ups.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const auto = (file: string, find: string, replace: string): Edit => ({
  file: `src/billing/auto-top-ups/${file}`,
  find,
  replace,
});
const charging = (test: string) => ({ file: "test/auto-top-ups/charging.test.ts", test });
const outcomes = (test: string) => ({ file: "test/auto-top-ups/outcomes.test.ts", test });
const saving = (test: string) => ({ file: "test/auto-top-ups/saving.test.ts", test });
const stopping = (test: string) => ({ file: "test/auto-top-ups/stopping.test.ts", test });
const operators = (test: string) => ({ file: "test/auto-top-ups/operators.test.ts", test });

/** Each with the test that must notice it. */
export const AUTO_TOP_UP_BUGS: readonly PlantedBug[] = [
  {
    name: "a charge whose outcome is not known is called again",
    edits: [
      auto(
        "charge-auto-top-ups.ts",
        "    onFailure(accountId, error);\n",
        '    onFailure(accountId, error);\n    await provider.charge({ orderId: topUpId, accountId, amount: paid, description: "", token }).catch(() => {});\n',
      ),
    ],
    noticedBy: charging("the answer is lost, and the charge was made"),
  },
  {
    name: "the call that charges an order can be taken twice",
    edits: [
      auto(
        "store.ts",
        "t.method_id IS NOT NULL AND t.charge_called_at IS NULL AND t.state",
        "t.method_id IS NOT NULL AND t.state",
      ),
    ],
    noticedBy: charging("an order is charged by one call, though two believe that it is theirs"),
  },
  {
    name: "the monthly cap counts an order when it is paid, and not from its creation",
    edits: [
      auto(
        "store.ts",
        "WHERE NOT is_ended AND created_at >= date_trunc",
        "WHERE state = 'paid' AND created_at >= date_trunc",
      ),
    ],
    noticedBy: charging("there is no answer, and no charge was made"),
  },
  {
    name: "the monthly cap is looked at before an order and not with it",
    edits: [
      auto("charge-auto-top-ups.ts", "history.charged + paid > plan.monthlyCap", "history.charged >= plan.monthlyCap"),
    ],
    noticedBy: charging("is exact: what would pass it by a rupiah is not charged, and a mail is owed once"),
  },
  {
    name: "the month of the cap is a month of UTC",
    edits: [
      auto(
        "store.ts",
        "date_trunc('month', clock_timestamp(), 'Asia/Jakarta')",
        "date_trunc('month', clock_timestamp(), 'UTC')",
      ),
    ],
    noticedBy: charging("begins again with the month of Asia/Jakarta"),
  },
  {
    name: "a second automatic order is made while one is open",
    edits: [
      auto("charge-auto-top-ups.ts", "  if (history.open > 0) return null;\n", ""),
      {
        file: "src/database/migrations/0033-one-open-automatic.sql",
        find: "CREATE UNIQUE INDEX",
        replace: "CREATE INDEX",
      },
    ],
    noticedBy: charging("has one open order, though a hundred look at it at once on two processes"),
  },
  {
    name: "the database lets a second automatic order be open",
    edits: [
      {
        file: "src/database/migrations/0033-one-open-automatic.sql",
        find: "CREATE UNIQUE INDEX",
        replace: "CREATE INDEX",
      },
    ],
    noticedBy: charging("has one open order also where the database alone refuses a second"),
  },
  {
    name: "refusals without end are charged again",
    edits: [auto("charge-auto-top-ups.ts", "history.refusals >= MOST_REFUSALS", "history.refusals > 1_000")],
    noticedBy: charging("waits an hour, and three in a row pause it until the settings are saved again"),
  },
  {
    name: "the token of a saved method is stored as it is",
    edits: [
      auto(
        "saved-method.ts",
        'sealText(METHOD_SECRETS.nameOf("token", methodId), method.token, await readSecretForm(client))',
        "method.token",
      ),
    ],
    noticedBy: {
      file: "test/auto-top-ups/method-secret.test.ts",
      test: "is stored encrypted, and is charged after the master key was changed",
    },
  },
  {
    name: "an order is charged that was turned off behind it",
    edits: [auto("store.ts", "AND s.account_id = t.account_id AND s.is_on", "AND s.account_id = t.account_id")],
    noticedBy: stopping("charges nothing where"),
  },
  {
    name: "an order is charged whose account was frozen behind it",
    edits: [auto("store.ts", "a.id = t.account_id AND a.frozen_at IS NULL", "a.id = t.account_id")],
    noticedBy: stopping("charges nothing where"),
  },
  {
    name: "cards are charged while admission is stopped",
    edits: [auto("store.ts", '"NOT EXISTS (SELECT FROM admission_switch WHERE stopped_at IS NOT NULL)"', '"true"')],
    noticedBy: stopping("orders nothing while admission is stopped"),
  },
  {
    name: "a process that slept behind its claim charges",
    edits: [auto("charge-auto-top-ups.ts", " || performance.now() - sinceMs > callWithinMs", "")],
    noticedBy: stopping("makes no call where the process slept"),
  },
  {
    name: "a card is charged again after a chargeback",
    edits: [auto("charge-auto-top-ups.ts", " || history.wasGivenBack", "")],
    noticedBy: stopping("is paused by an automatic payment that was given back"),
  },
  {
    name: "an order of before the removal of a method saves one",
    edits: [
      auto(
        "saved-method.ts",
        "if ((await client.query(REMOVED_SINCE, [accountId, orderedAt])).rowCount !== 0) return;",
        "",
      ),
    ],
    noticedBy: stopping("saves no method by an order of before"),
  },
  {
    name: "an older automatic order in review is refused beside a newer one that is open",
    edits: [
      {
        file: "src/database/migrations/0033-one-open-automatic.sql",
        find: "state IN ('created', 'pending')",
        replace: "state IN ('created', 'pending', 'review')",
      },
    ],
    noticedBy: outcomes("is in review with it, and each payment is credited once"),
  },
  {
    name: "the credit of a payment waits until its method is saved",
    edits: [
      {
        file: "src/billing/top-ups/apply-payment.ts",
        find: "  // The credit waits for nothing of the method",
        replace: `  if (topUp.savesMethod && facts.method != null)
    await client.query("INSERT INTO payment_method (id, account_id, provider, token, label) VALUES (new_uuidv7(), $1, '', '', '')", [topUp.accountId]);
  // The credit waits for nothing of the method`,
      },
    ],
    noticedBy: saving("credits a payment whose method cannot be saved"),
  },
  {
    name: "a method that could not be saved is not tried again",
    edits: [
      {
        file: "src/billing/top-ups/check-schedule.ts",
        find: "if (dueForMs < SAVING_FOR_MS)",
        replace: "if (dueForMs < 0)",
      },
    ],
    noticedBy: saving("saves the method by itself once that works"),
  },
  {
    name: "a method is saved by each check of its order",
    edits: [
      auto("saved-method.ts", "AND method_due_at IS NOT NULL AND state = 'paid' RETURNING", "RETURNING"),
      {
        file: "src/billing/top-ups/check-top-ups.ts",
        find: "topUp.methodDueAt === null || facts.method == null",
        replace: "facts.method == null",
      },
    ],
    noticedBy: saving("saves a method once, however often two processes ask about its order"),
  },
  {
    name: "the method of a payment that was given back is saved",
    edits: [
      auto("saved-method.ts", "AND method_due_at IS NOT NULL AND state = 'paid' RETURNING", "RETURNING"),
      {
        file: "src/billing/top-ups/store.ts",
        find: "WHEN $2 = 'paid' THEN method_due_at END",
        replace: "ELSE method_due_at END",
      },
    ],
    noticedBy: saving("saves no method of a payment that was given back"),
  },
  {
    name: "the method of an older order replaces that of a newer one",
    edits: [
      auto(
        "saved-method.ts",
        "if ((await client.query(HAS_NEWER, [topUpId])).rowCount !== 0) return;",
        "await client.query(HAS_NEWER, [topUpId]);",
      ),
    ],
    noticedBy: saving("keeps the method of a newer order when the one of an older order comes late"),
  },
  {
    name: "the page computes one automatic charge without its tax",
    edits: [
      {
        file: "src/dashboard/pages/billing/taxed-amount.ts",
        find: "total: String(net + tax)",
        replace: "total: String(net)",
      },
    ],
    noticedBy: { file: "test/dashboard/taxed-amount.test.ts", test: "added and included" },
  },
  {
    name: "an order that was never made counts as a refusal of the card",
    edits: [auto("store.ts", "FROM ended WHERE is_refused", "FROM ended")],
    noticedBy: outcomes("is no refusal of the card"),
  },
  {
    name: "an operator who turns automatic top-ups off turns them off for every account",
    edits: [
      auto(
        "store.ts",
        "updated_at = clock_timestamp() WHERE account_id = $1::uuid`;\nconst PAUSE",
        "updated_at = clock_timestamp() WHERE $1::uuid IS NOT NULL`;\nconst PAUSE",
      ),
    ],
    noticedBy: operators(
      "an account that is turned off is charged no more, and its members read it without the reason",
    ),
  },
  {
    name: "turning off what is off leaves a second line",
    edits: [auto("settings.ts", "if (settings?.isOn !== true) return null;", "if (settings === null) return null;")],
    noticedBy: operators("turning off what is off changes nothing and leaves no line, and needs a reason"),
  },
];
