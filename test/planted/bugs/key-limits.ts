// Guards of the limits of a key: its budget, its end and its models.

import { money, type PlantedBug, statement } from "../planted-bug.ts";

const budget = (test: string) => money("key-budget", test);
const tokenLimits = (test: string) => ({ file: "test/app/clients/token-limits.test.ts", test });

/** Each with the test that must notice it. */
export const KEY_LIMIT_BUGS: readonly PlantedBug[] = [
  {
    name: "a budget is checked before the lock",
    edits: [
      statement(
        "admit_request",
        "SELECT a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL",
        `SELECT k.budget_spent, k.budget_held INTO spent, key_held FROM api_key k WHERE k.account_id = account AND k.id = key;
         SELECT a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL`,
      ),
      statement("admit_request", "k.budget_until, k.budget_spent, k.budget_held", "k.budget_until"),
      statement(
        "admit_request",
        "allowed, budget, period, start, zone, until, spent, key_held,",
        "allowed, budget, period, start, zone, until,",
      ),
    ],
    noticedBy: budget("is read behind the lock"),
  },
  {
    name: "a group is admitted without a look at the budget",
    edits: [statement("commit_requests", "ELSIF budgeted < a_least[i] THEN", "ELSIF false THEN")],
    noticedBy: budget("admits exactly as many of a hundred parallel requests as it covers"),
  },
  {
    name: "a hold is larger than what is left of the budget",
    edits: [
      statement(
        "admit_request",
        "amount := least(wanted, other, budgeted, member_left);",
        "amount := least(wanted, other, member_left);",
      ),
    ],
    noticedBy: budget("grants what is left of it where that is enough"),
  },
  {
    name: "a request alone is charged beyond the budget",
    edits: [
      statement(
        "settle_request",
        "least(posted - held - owed, budgeted, member_left)",
        "least(posted - held - owed, member_left)",
      ),
    ],
    noticedBy: budget("leaves what a request costs beyond its hold and the budget to the operator"),
  },
  {
    name: "requests of a group are charged beyond the budget",
    edits: [
      statement("commit_requests", "more := greatest(0, least(more, limited_left[b]));", "more := greatest(0, more);"),
    ],
    noticedBy: budget("shares what is left among requests that are settled together"),
  },
  {
    name: "a hold is extended beyond the budget",
    edits: [
      statement(
        "commit_requests",
        "room := greatest(0, least(room, budget_left(key.",
        "room := greatest(0, least(room, 9e17::bigint + budget_left(key.",
      ),
    ],
    noticedBy: budget("extends a hold by what is left of it, and no further"),
  },
  {
    name: "recovery charges no budget",
    edits: [
      {
        file: "src/ledger/recovery.ts",
        find: "SELECT charge_budget(d.account_id, d.key_id, d.amount, coalesce(i.charge, 0))",
        replace: "SELECT charge_budget(d.account_id, d.key_id, d.amount, 0)",
      },
    ],
    noticedBy: budget("counts what recovery charges, and what a late settlement adds"),
  },
  {
    name: "a late settlement is charged beyond the budget",
    edits: [
      statement(
        "post_late_usage",
        "least(posted - held - owed, budgeted, member_left)",
        "least(posted - held - owed, member_left)",
      ),
    ],
    noticedBy: budget("counts what recovery charges, and what a late settlement adds"),
  },
  {
    name: "a day of a budget begins at midnight of Greenwich",
    edits: [
      statement(
        "key_budget",
        "ELSE greatest(start, until, zone_period_start(period, t, coalesce(zone, 'Asia/Jakarta'))) END",
        "ELSE greatest(start, until, zone_period_start(period, t, coalesce(zone, 'UTC'))) END",
      ),
    ],
    noticedBy: budget("midnight is that of Jakarta"),
  },
  {
    name: "a new budget forgets the requests that run",
    edits: [
      statement(
        "set_key_budget",
        "UPDATE hold h SET in_budget = new_budget IS NOT NULL",
        "UPDATE hold h SET in_budget = false",
      ),
    ],
    noticedBy: budget("counts the open requests of a key that gets one"),
  },
  {
    name: "a key that has ended is admitted in a group",
    edits: [statement("commit_requests", "key.revoked OR key.expires_at <= t", "key.revoked")],
    noticedBy: budget("refuses a key that has ended, and models that it may not ask"),
  },
  {
    name: "a key asks a model that it may not ask",
    edits: [
      statement(
        "admit_request",
        "IF NOT is_model_allowed(allowed, model) THEN outcome := 'revoked'; wait_ms := 4; RETURN; END IF;",
        "",
      ),
    ],
    noticedBy: budget("refuses a key that has ended, and models that it may not ask"),
  },
  {
    name: "a token limit is checked before the lock",
    edits: [
      statement(
        "admit_request",
        "SELECT a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL",
        `SELECT k.tokens_held, k.token_times, k.token_counts INTO key_tokens, token_times, token_counts
         FROM api_key k WHERE k.account_id = account AND k.id = key;
         SELECT a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL`,
      ),
      statement(
        "admit_request",
        "nullif(k.token_limit, 0), k.tokens_held, k.token_times, k.token_counts",
        "nullif(k.token_limit, 0)",
      ),
      statement(
        "admit_request",
        "token_limit, key_tokens, token_times, token_counts FROM api_key",
        "token_limit FROM api_key",
      ),
    ],
    noticedBy: money("key-tokens", "are read behind the lock"),
  },
  {
    name: "a group is admitted without a look at the tokens",
    edits: [statement("commit_requests", "ELSIF tokens > tokens_left THEN", "ELSIF false THEN")],
    noticedBy: money("key-tokens", "admit exactly as many of a hundred parallel requests as they allow"),
  },
  {
    name: "a settlement does not count the tokens that were used",
    edits: [
      statement(
        "settle_request",
        "all_tokens(input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens)",
        "0",
      ),
    ],
    noticedBy: money("key-tokens", "are corrected to what was used when a request ends"),
  },
  {
    name: "recovery keeps the tokens of dead requests",
    edits: [
      {
        file: "src/ledger/recovery.ts",
        find: "FROM del d WHERE d.tokens > 0",
        replace: "FROM del d WHERE d.tokens > 2000000000",
      },
    ],
    noticedBy: money("key-tokens", "are given back by recovery"),
  },
  {
    name: "the network of a key that is in memory is not compared",
    edits: [
      {
        file: "src/transport/rest/chat/plain-chat.ts",
        find: "if (key === undefined || key.allowedNetworks !== undefined) return null;",
        replace: "if (key === undefined) return null;",
      },
    ],
    noticedBy: {
      file: "test/app/clients/key-networks.test.ts",
      test: "is refused from the next request on, where an allowed one has just been answered",
    },
  },
  {
    name: "the network of a key is not compared where it is looked up",
    edits: [
      {
        file: "src/transport/calls/authenticate.ts",
        find: "requireAllowedNetwork(key, credentials.source, verifiers.trustedProxies);",
        replace: "",
      },
      {
        file: "src/transport/calls/authenticate.ts",
        find: 'import { requireAllowedNetwork } from "./allowed-network.ts";',
        replace: "",
      },
    ],
    noticedBy: { file: "test/app/clients/key-networks.test.ts", test: "is refused elsewhere at" },
  },
  {
    name: "an owner sets a rate limit above the operator's bound",
    edits: [
      {
        file: "src/keys/issued-keys.ts",
        find: "if (ownRateLimit !== undefined) requireWithinBound(ownRateLimit, before.rateLimitBound);",
        replace: "",
      },
      { file: "src/keys/issued-keys.ts", find: "requireRateLimit, requireWithinBound,", replace: "requireRateLimit," },
    ],
    noticedBy: {
      file: "test/app/clients/key-networks.test.ts",
      test: "sets its rate limit up to the operator's bound",
    },
  },
  {
    name: "the list has models that a key may not ask",
    edits: [{ file: "src/gateway/service.ts", find: ".filter(({ id }) => isModelAllowed(allowed, id))", replace: "" }],
    noticedBy: { file: "test/app/clients/key-limits.test.ts", test: "asks those alone, and lists no others" },
  },
  {
    name: "of a key's requests that a group settles, one counts in the budget",
    edits: [
      statement(
        "commit_requests",
        "AS key_id, sum(budget_freed[n])::bigint AS held, sum(charge[n])::bigint AS charge",
        "AS key_id, sum(budget_freed[n])::bigint AS held, max(charge[n])::bigint AS charge",
      ),
    ],
    noticedBy: budget("shares what is left among requests that are settled together"),
  },
  {
    name: "an answer is as long as asked, though the key has fewer tokens left",
    edits: [
      {
        file: "src/gateway/admission/admit.ts",
        find: "keepsAnswer: admission.keepsAnswers === true, plan };",
        replace: "keepsAnswer: admission.keepsAnswers === true, plan: wanted };",
      },
    ],
    noticedBy: tokenLimits("leaves a stream of "),
  },
  {
    name: "a request above the tokens that are left is refused where fewer would do",
    edits: [{ file: "src/gateway/admission/admit.ts", find: "const MOST_CUTS = 2;", replace: "const MOST_CUTS = 0;" }],
    noticedBy: tokenLimits("leaves the output of a request of "),
  },
  {
    name: "client libraries repeat a request that never fits the tokens of its key",
    edits: [
      {
        file: "src/kernel/key-limit-errors.ts",
        find: "this.retryAfterSeconds = isTooLarge ? 0 : retryAfterSeconds;",
        replace: "this.retryAfterSeconds = retryAfterSeconds;",
      },
    ],
    noticedBy: tokenLimits("is sent once by OpenAI's library"),
  },
  {
    name: "a key counts and looks for models that it may not ask",
    edits: [
      {
        file: "src/keys/key-limits.ts",
        find: "if (!isModelAllowed(allowed, model)) throw",
        replace: "if (allowed === undefined) throw",
      },
    ],
    noticedBy: { file: "test/app/clients/key-limits.test.ts", test: "asks those alone, and lists no others" },
  },
];
