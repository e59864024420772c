// Orders of transfers that must be refused, each with its error.

/** An address of Tron that may be paid. */
export const TRON = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC";
/** An address of Ethereum that may be paid. */
export const EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

const fields = (changed: Readonly<Record<string, string>>): string => {
  const all = { externalId: '"bad"', currencyCode: '"TRX"', amount: "5", address: `"${TRON}"`, ...changed };
  return `{${Object.entries(all)
    .map(([name, value]) => `"${name}":${value}`)
    .join(",")}}`;
};
const invalid = [400, "validation_error"] as const;
const badAddress = [422, "address_invalid"] as const;
const unsupported = [422, "currency_unsupported"] as const;
type Refused = readonly [status: number, error: string];

/** Bodies of orders with one thing wrong in each, and how they are refused. */
export const WRONG_ORDERS: readonly (readonly [what: string, body: string, refusal: Refused])[] = [
  ...[
    "0",
    "-1",
    "-0",
    "0.000",
    "1e400",
    '"5"',
    "null",
    "[5]",
    "{}",
    "true",
    "NaN",
    "Infinity",
    "05",
    "+5",
    ".5",
    "5.",
  ].map((amount) => [`amount ${amount}`, fields({ amount }), invalid] as const),
  ["amount 1e-30", fields({ amount: "1e-30" }), [422, "amount_precision"]],
  ["amount 5.000000001 of 6 decimals", fields({ amount: "5.000000001" }), [422, "amount_precision"]],
  ["amount of 100 digits", fields({ amount: "9".repeat(100) }), invalid],
  ["amount over the most", fields({ amount: "1000000000001" }), [422, "limit_exceeded"]],
  ["amount 5e30", fields({ amount: "5e30" }), [422, "limit_exceeded"]],
  ["an amount that comes twice", `{"amount":1,${fields({}).slice(1)}`, invalid],
  ["an amount that comes twice, once escaped", String.raw`{"\u0061mount":1,` + fields({}).slice(1), invalid],
  ["an unknown currency", fields({ currencyCode: '"XYZ"' }), unsupported],
  ["a currency in small letters", fields({ currencyCode: '"trx"' }), invalid],
  ["a currency __proto__", fields({ currencyCode: '"__proto__"' }), invalid],
  ["a currency CONSTRUCTOR", fields({ currencyCode: '"CONSTRUCT"' }), unsupported],
  ["a currency that is a number", fields({ currencyCode: "5" }), invalid],
  ["a network that does not carry it", fields({ network: '"bitcoin"' }), unsupported],
  ["a network __proto__", fields({ network: '"__proto__"' }), unsupported],
  ["an address with a wrong checksum", fields({ address: `"${TRON.slice(0, -1)}D"` }), badAddress],
  ["an address of another network", fields({ address: `"${EVM}"` }), badAddress],
  ["an address with spaces", fields({ address: `" ${TRON}"` }), badAddress],
  ["an address with a homoglyph", fields({ address: `"${TRON.replace("T", "\u0422")}"` }), badAddress],
  ["an address with a NUL", fields({ address: `"${TRON}\\u0000"` }), invalid],
  ["an address of 60 kB", fields({ address: `"${"T".repeat(60_000)}"` }), invalid],
  ["an empty address", fields({ address: '""' }), invalid],
  ["an empty externalId", fields({ externalId: '""' }), invalid],
  ["an externalId of 10 kB", fields({ externalId: `"${"x".repeat(10_000)}"` }), invalid],
  ["an externalId with a line break", fields({ externalId: String.raw`"a\nb"` }), invalid],
  ["an externalId with a NUL", fields({ externalId: String.raw`"a\u0000b"` }), invalid],
  ["an externalId with half a surrogate pair", fields({ externalId: String.raw`"a\ud800"` }), invalid],
  ["an externalId that is null", fields({ externalId: "null" }), invalid],
  ["no body", "", invalid],
  ["a list", `[${fields({})}]`, invalid],
  ["half of a body", fields({}).slice(0, -9), invalid],
];
