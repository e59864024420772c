// Texts of the kinds that agents send, with their tokens by Anthropic's own tokenizer, which is not the one of the estimate.

/** `tokens`: by @anthropic-ai/tokenizer 0.0.4, as `fixtures/token-counts.md` has it. */
export type CountedText = { readonly kind: string; readonly text: string; readonly tokens: number };

const PROSE = `The gateway holds an amount before it asks a model, and settles what the answer has cost when it ends. A customer
never pays more than the hold, and what is left of it comes back at once. Where the balance does not reach, the answer
is shorter, as if the customer had asked for a lower bound. Nothing is rounded twice: the counts are multiplied by the
prices, the products are added, and the sum is rounded up once.
`;
const MARKDOWN = `## How a request goes

1. The **transport** reads the headers and finds the key.
2. \`request/\` checks the body; each wrong field is named.
3. A hold is placed. See [the ledger](../ledger/README.md) for its states.

| outcome | status | repeated |
|---|---|---|
| answered | 200 | - |
| refused | 402 | after a top-up |
| limited | 429 | after \`retry-after\` seconds |
`;
const TYPESCRIPT = `export async function settleRequest(ledger: Ledger, { requestId, usage }: Finished): Promise<Settlement> {
  const price = await ledger.priceSnapshot(requestId);
  if (price === null) throw new InvariantError(\`no price for \${requestId}\`);
  const cost = usage.inputTokens * price.inputPrice + usage.outputTokens * price.outputPrice;
  for (const [kind, tokens] of Object.entries(usage.otherTokens ?? {})) {
    cost += BigInt(tokens) * (price.otherPrices[kind as TokenKind] ?? 0n);
  }
  return ledger.settle({ requestId, cost: roundUp(cost, MICRO_RUPIAH), basis: "exact" });
}
`;
const PYTHON = `def read_usage(path: str, *, since: datetime | None = None) -> list[UsageRecord]:
    """Reads the records of a file, newest first."""
    records = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            record = UsageRecord(**json.loads(line))
            if since is None or record.created_at >= since:
                records.append(record)
    return sorted(records, key=lambda record: record.created_at, reverse=True)
`;
const JSON_TEXT = JSON.stringify(
  {
    type: "object",
    properties: {
      file_path: { type: "string", description: "The absolute path of the file to change" },
      old_string: { type: "string", description: "The text to replace, which must be in the file once" },
      replace_all: { type: "boolean", description: "Whether each place is changed", default: false },
      line_range: { type: "array", items: { type: "integer", minimum: 1 }, minItems: 2, maxItems: 2 },
    },
    required: ["file_path", "old_string"],
    additionalProperties: false,
  },
  null,
  2,
);
const LOG = `$ npm test -- --run src/ledger
 RUN  v5.1.0 /srv/app
 ✓ src/ledger/accounts.test.ts (12 tests) 48ms
 ✓ src/ledger/holds.test.ts (31 tests) 212ms
 × src/ledger/settle.test.ts (9 tests | 1 failed) 97ms
   → expected 83801n to be 83800n
 FAIL  src/ledger/settle.test.ts > a settlement > is rounded up once
AssertionError: expected 83801n to be 83800n // Object.is equality
    at src/ledger/settle.test.ts:44:27
`;
const SQL = `SELECT account_id, date_trunc('day', settled_at) AS day, count(*) AS requests, sum(charge) AS charged
  FROM usage_record
 WHERE account_id = $1 AND settled_at >= $2 AND basis IN ('exact', 'drained')
 GROUP BY account_id, day
HAVING sum(charge) > 0
 ORDER BY day DESC
 LIMIT 31;
`;

export const COUNTED_TEXTS: readonly CountedText[] = [
  { kind: "prose", text: PROSE, tokens: 96 },
  { kind: "Markdown", text: MARKDOWN, tokens: 110 },
  { kind: "TypeScript", text: TYPESCRIPT, tokens: 165 },
  { kind: "Python", text: PYTHON, tokens: 133 },
  { kind: "JSON", text: JSON_TEXT, tokens: 186 },
  { kind: "a log", text: LOG, tokens: 152 },
  { kind: "SQL", text: SQL, tokens: 86 },
];
