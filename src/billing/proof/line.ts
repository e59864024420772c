// The lines of an account as texts. A line is made of the columns of its row alone and never changes its form, because its hash is in
// every seal behind it. What customers may not see is in no line.

/** A row, with whole numbers and money as their digits and JSON as its text. */
export type LineRow = {
  readonly kind: "usage" | "posting";
  readonly id: string;
  /** UTC, to the microsecond: `2026-11-26T01:02:03.000004Z`. */
  readonly at: string;
  readonly is_debit: number;
  readonly key_id: string | null;
  readonly model: string | null;
  readonly input_tokens: string | null;
  readonly cached_tokens: string | null;
  readonly output_tokens: string | null;
  readonly other_tokens: string | null;
  readonly input_price: string | null;
  readonly output_price: string | null;
  readonly cache_hit_price: string | null;
  readonly other_prices: string | null;
  readonly cost: string | null;
  readonly charge: string | null;
  readonly basis: string | null;
  readonly clamped: boolean | null;
  readonly metering: string | null;
  readonly group_id: string | null;
  readonly asset: string | null;
  readonly debit: string | null;
  readonly credit: string | null;
  readonly amount: string | null;
  readonly reason: string | null;
  readonly reference: string | null;
};

/** A line of a statement, and what it does to the balance, in micro-rupiah. */
export type Line = { readonly id: string; readonly text: string; readonly effect: bigint };

/** The asset of balances. */
export const BALANCE_ASSET = "IDR/6";

/** The line of a row of an account. */
export function lineOf(row: LineRow, accountId: string): Line {
  return row.kind === "usage"
    ? { id: row.id, text: usageText(row), effect: -BigInt(row.charge ?? 0) }
    : { id: row.id, text: postingText(row), effect: effectOf(row, accountId) };
}

/** What a posting does to an account's balance. */
export function effectOf(
  { asset, debit, credit, amount }: Pick<LineRow, "asset" | "debit" | "credit" | "amount">,
  accountId: string,
): bigint {
  if (asset !== BALANCE_ASSET) return 0n;
  const sign = (credit === accountId ? 1n : 0n) - (debit === accountId ? 1n : 0n);
  return sign * BigInt(amount ?? 0);
}

function usageText(row: LineRow): string {
  return `{${[
    `"type":"usage"`,
    member("request", row.id),
    member("at", row.at),
    member("key", row.key_id),
    member("model", row.model),
    `"input_tokens":${row.input_tokens ?? 0}`,
    `"cached_tokens":${row.cached_tokens ?? 0}`,
    `"output_tokens":${row.output_tokens ?? 0}`,
    `"other_tokens":${row.other_tokens ?? "null"}`,
    member("input_price", row.input_price),
    member("output_price", row.output_price),
    member("cache_hit_price", row.cache_hit_price),
    `"other_prices":${row.other_prices ?? "null"}`,
    member("cost", row.cost),
    member("charge", row.charge),
    member("basis", row.basis),
    `"clamped":${row.clamped === true}`,
    `"metering":${row.metering ?? "null"}`,
  ].join(",")}}`;
}

function postingText(row: LineRow): string {
  return `{${[`"type":"posting"`, member("id", row.id), member("at", row.at), ...movement(row)].join(",")}}`;
}

/** A posting between accounts of ours and of merchants. */
export type HouseRow = Pick<
  LineRow,
  "id" | "at" | "group_id" | "asset" | "debit" | "credit" | "amount" | "reason" | "reference"
> & {
  readonly account_id: string;
  readonly note: string | null;
};

/** The text of such a posting. No statement has it, so it has the note as well. */
export function houseText(row: HouseRow): string {
  return `{${[
    `"type":"house"`,
    member("id", row.id),
    member("at", row.at),
    member("account", row.account_id),
    ...movement(row),
    member("note", row.note),
  ].join(",")}}`;
}

/** What moved in a posting. Their order is signed. */
function movement(row: Pick<HouseRow, "group_id" | "asset" | "debit" | "credit" | "amount" | "reason" | "reference">) {
  return [
    member("group", row.group_id),
    member("asset", row.asset),
    member("debit", row.debit),
    member("credit", row.credit),
    member("amount", row.amount),
    member("reason", row.reason),
    member("reference", row.reference),
  ];
}

function member(name: string, value: string | null): string {
  return `"${name}":${JSON.stringify(value)}`;
}
