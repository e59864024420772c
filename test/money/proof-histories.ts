// Random histories of an account as statements, without a database: tokens and prices of every kind, gifts and corrections, several
// seals, other accounts in the tree, and a beginning in the middle.

import { costOf } from "../../src/billing/cost.ts";
import {
  type ChainEnd,
  digestBehind,
  firstDigest,
  leafText,
  nextDigest,
  sealText,
} from "../../src/billing/proof/chain.ts";
import { lineOf, type LineRow } from "../../src/billing/proof/line.ts";
import { leafHash, merklePath, merkleRoot } from "../../src/billing/proof/merkle.ts";
import { type ProofKey, signByAll } from "../../src/billing/proof/signing.ts";
import type { OtherPrices, OtherTokens } from "../../src/kernel/token-prices.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { otherPricesColumn, otherTokensColumn } from "../../src/ledger/group-commit/token-columns.ts";

const REVENUE = "00000000-0000-7000-8000-000000000001";
const MOST_LINES = 12;
const MOST_SEALS = 4;
const MOST_OTHERS = 9;

const NO_COLUMNS = {
  key_id: null,
  model: null,
  input_tokens: null,
  cached_tokens: null,
  output_tokens: null,
  other_tokens: null,
  input_price: null,
  output_price: null,
  cache_hit_price: null,
  other_prices: null,
  cost: null,
  charge: null,
  basis: null,
  clamped: null,
  metering: null,
  group_id: null,
  asset: null,
  debit: null,
  credit: null,
  amount: null,
  reason: null,
  reference: null,
} as const;

/** The lines of a statement file, by a random source of numbers from 0 to 1. `forge` changes rows before they are sealed. */
export function randomStatement(
  random: () => number,
  key: ProofKey,
  forge: (row: LineRow) => LineRow = (row) => row,
): string[] {
  const whole = (most: number): number => Math.floor(random() * (most + 1));
  const account = uuidv7(whole(2 ** 40));
  const seals = 1 + whole(MOST_SEALS - 1);
  const from = whole(seals - 1);
  const file: string[] = [];
  let chain: ChainEnd | null = null;
  let opening: unknown = null;
  for (let seal = 1; seal <= seals; seal += 1) {
    let digest: Buffer = chain === null ? firstDigest(account) : digestBehind(chain);
    let { lines, balance }: { lines: bigint; balance: bigint } = chain ?? { lines: 0n, balance: 0n };
    const texts: string[] = [];
    for (let left = 1 + whole(MOST_LINES - 1); left > 0; left -= 1) {
      const line = lineOf(forge(randomRow(random, account, balance)), account);
      texts.push(line.text);
      digest = nextDigest(digest, line.text);
      balance += line.effect;
      lines += 1n;
    }
    chain = { seal, lines, balance, digest };
    if (seal > from) file.push(...texts, sealText(chain));
    else opening = proofOf(random, { account, chain, key });
  }
  const proof = chain && proofOf(random, { account, chain, key });
  return [
    JSON.stringify({ type: "statement", version: 1, account, opening }),
    ...file,
    JSON.stringify({ type: "proof", ...proof }),
  ];
}

function proofOf(random: () => number, { account, chain, key }: { account: string; chain: ChainEnd; key: ProofKey }) {
  const leaf = leafText(account, chain);
  const leaves = Array.from({ length: Math.floor(random() * MOST_OTHERS) }, () => leafHash(String(random())));
  const index = Math.floor(random() * (leaves.length + 1));
  leaves.splice(index, 0, leafHash(leaf));
  const root = merkleRoot(leaves).toString("hex");
  const text = JSON.stringify({ saldo_proof: 1, seal: chain.seal, day: "2026-11-26", accounts: leaves.length, root });
  return { leaf, path: merklePath(leaves, index), root: { text, signatures: signByAll([key], text) } };
}

function randomRow(random: () => number, account: string, balance: bigint): LineRow {
  const whole = (most: number): number => Math.floor(random() * (most + 1));
  const row = { id: uuidv7(whole(2 ** 40)), at: "2026-11-26T01:02:03.000004Z", is_debit: 1, ...NO_COLUMNS };
  if (random() < 0.3) return randomPosting(random, { account, balance, row });
  const tokens = {
    inputTokensUncached: whole(200_000),
    inputTokensCached: whole(50_000),
    outputTokens: whole(20_000),
    otherTokens: random() < 0.5 ? null : randomTokens(random),
  };
  const prices = {
    input: BigInt(whole(9_000_000_000)),
    output: BigInt(whole(30_000_000_000)),
    cacheHit: random() < 0.3 ? null : BigInt(whole(1_000_000_000)),
    other: random() < 0.4 ? null : randomPrices(random),
  };
  const cost = costOf(tokens, prices);
  const charge = cost < balance ? cost : balance;
  return {
    ...row,
    kind: "usage",
    key_id: uuidv7(),
    model: 'a "model"/é',
    input_tokens: String(tokens.inputTokensUncached),
    cached_tokens: String(tokens.inputTokensCached),
    output_tokens: String(tokens.outputTokens),
    other_tokens: otherTokensColumn(tokens),
    input_price: String(prices.input),
    output_price: String(prices.output),
    cache_hit_price: prices.cacheHit === null ? null : String(prices.cacheHit),
    other_prices: otherPricesColumn(prices),
    cost: String(cost),
    charge: String(charge),
    basis: "exact",
    clamped: false,
  };
}

function randomPosting(
  random: () => number,
  { account, balance, row }: { account: string; balance: bigint; row: Omit<LineRow, "kind"> },
): LineRow {
  const isDebit = random() < 0.3 && balance > 0n;
  const most = isDebit ? balance : 50_000_000_000n;
  const amount = 1n + (most * BigInt(Math.floor(random() * 1_000))) / 1_001n;
  const [debit, credit] = isDebit ? [account, REVENUE] : [REVENUE, account];
  const asset = random() < 0.1 ? "USDT/6" : "IDR/6";
  return { ...row, kind: "posting", group_id: row.id, asset, debit, credit, amount: String(amount), reason: "top_up" };
}

function randomTokens(random: () => number): OtherTokens {
  const kinds = ["cacheWrite", "cacheWrite1h", "audioInput", "imageInput", "imageOutput"] as const;
  return Object.fromEntries(kinds.filter(() => random() < 0.5).map((kind) => [kind, Math.floor(random() * 90_000)]));
}

function randomPrices(random: () => number): OtherPrices {
  const price = (): bigint => BigInt(Math.floor(random() * 9_000_000_000));
  const kinds = ["cacheWrite", "cacheWrite1h", "audioInput", "imageInput", "imageOutput", "perRequest"] as const;
  const own = Object.fromEntries(kinds.filter(() => random() < 0.5).map((kind) => [kind, price()]));
  const tiers = [100_000, 200_000].slice(0, Math.floor(random() * 3)).map((above) => ({
    above,
    input: price(),
    output: price(),
    cacheHit: random() < 0.5 ? null : price(),
    ...(random() < 0.5 ? { cacheWrite: price() } : {}),
    ...(random() < 0.5 ? { cacheWrite1h: price() } : {}),
  }));
  return { ...own, ...(tiers.length > 0 ? { longContext: tiers } : {}) };
}
