// The audit of the window in which the oldest month at hand begins: the lines of its first hours are in the archive, so its chains cannot be
// folded again. The lines behind them are compared by their marks, and with what the chain's balance has to be before them.

import { readBalanceAtMark } from "../../ledger/archived-usage.ts";
import type { Look } from "../../database/throttled-reader.ts";
import { markOf } from "./chain.ts";
import { differencesBehind, type FoundLine, type LineDifference, marksIn } from "./compare-marks.ts";
import { readLines, type TimeSpan } from "./line-store.ts";
import { type AccountSeal, readMarks } from "./seal-store.ts";

/** How the lines of an account in the part of a window that is at hand differ from those that were sealed. */
export async function checkCutChain(look: Look, seal: AccountSeal, span: TimeSpan): Promise<LineDifference[]> {
  const { accountId } = seal;
  const found: FoundLine[] = [];
  let effect = 0n;
  for await (const line of readLines(look, accountId, span)) {
    found.push({ id: line.id, mark: markOf(line.text).toString("hex") });
    effect += line.effect;
  }
  const lines = differencesBehind(marksIn(await readMarks(look, accountId, seal.seal)), found);
  if (lines.length > 0) return lines;
  const balance = (await readBalanceAtMark(look, accountId, span.fromMicros)) + effect;
  if (balance === seal.balance) return [];
  return [{ id: null, detail: `its lines come to ${balance}, sealed was ${seal.balance}: some are missing` }];
}
