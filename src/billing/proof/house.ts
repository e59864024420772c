// The chain of the postings that no account is a side of: fees, losses, money of merchants and of providers. Its digest is in the text of
// each root, so the root's signature covers it. No statement shows these lines.

import type { Pool } from "pg";
import type { Look } from "../../database/throttled-reader.ts";
import { markOf, Marks, nextDigest, sha256 } from "./chain.ts";
import { readHouseLines, type TimeSpan } from "./line-store.ts";
import { addHouseSeal, type HouseSeal, latestHouseSeal, type SealWindow, windowsBetween } from "./seal-store.ts";

/** The lines of a seal: those since the one before. A version that knew no house may have sealed days between. */
export async function houseSpan(look: Look, window: SealWindow, before: HouseSeal | undefined): Promise<TimeSpan> {
  const [last] = before === undefined ? [] : await windowsBetween(look, before.seal - 1, before.seal);
  return { fromMicros: last?.untilMicros ?? 0n, untilMicros: window.untilMicros };
}

/** Folds the lines since the seal before into the chain. */
export async function foldHouse(look: Look, window: SealWindow): Promise<HouseSeal & { readonly marks: Buffer }> {
  const before = await latestHouseSeal(look, window.seal - 1);
  let { digest, lines } = before === undefined ? { digest: sha256("saldo house"), lines: 0n } : behind(before);
  const marks = new Marks();
  for await (const line of readHouseLines(look, await houseSpan(look, window, before))) {
    digest = nextDigest(digest, line.text);
    lines += 1n;
    marks.add(markOf(line.text));
  }
  return { seal: window.seal, lines, digest, marks: marks.bytes };
}

/** Seals a window of the chain, and returns its digest. Errors: the seal that is there is not that of its lines. */
export async function sealHouse(pool: Pool, look: Look, window: SealWindow): Promise<Buffer> {
  const { digest, lines, seal, marks } = await foldHouse(look, window);
  await addHouseSeal(pool, { seal, lines, digest, marks });
  const stored = await latestHouseSeal(look, seal);
  if (stored?.seal === seal && stored.lines === lines && stored.digest.equals(digest)) return digest;
  throw new Error(`Nothing is signed: seal ${seal} of the house is not that of its lines.`);
}

function behind({ seal, lines, digest }: HouseSeal): { digest: Buffer; lines: bigint } {
  const text = JSON.stringify({ type: "seal", seal, lines: String(lines), digest: digest.toString("hex") });
  return { digest: nextDigest(digest, text), lines };
}
