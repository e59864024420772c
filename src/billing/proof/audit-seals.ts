// The audit of seals: each account's chain is folded again from its rows, and each root from the chains. A full run does so from the first
// seal on. Where a chain differs, the marks of its lines find the row.

import type { Look } from "../../database/throttled-reader.ts";
import type { AuditFindings, Violation } from "../../ledger/audit/findings.ts";
import type { AuditPlugin } from "../../ledger/audit/plugin.ts";
import { readArchiveMark } from "../../ledger/archived-usage.ts";
import { checkCutChain } from "./audit-cut-window.ts";
import { markOf, sha256 } from "./chain.ts";
import { differences, type FoundLine, type LineDifference, marksIn } from "./compare-marks.ts";
import { foldHouse, houseSpan } from "./house.ts";
import { activeAccounts, readHouseLines, readLines } from "./line-store.ts";
import { GrowingTree, merkleRoot } from "./merkle.ts";
import { foldWindow, readLeaves } from "./seal.ts";
import {
  type AccountSeal,
  hasSealTables,
  lastWindow,
  latestHouseSeal,
  latestSeal,
  readHouseMarks,
  readMarks,
  readRoot,
  readRootText,
  sealsOfWindow,
  type SealWindow,
  windowsBetween,
} from "./seal-store.ts";
import { areSignaturesRight, type ProofKey, rightSignatures } from "./signing.ts";
import { readable } from "./readable.ts";
import { leafOf, readPlaces } from "./tree-store.ts";

const CHAIN_CHECK = "the lines of an account are those that were sealed";
const HOUSE_CHECK = "the postings between our own accounts are those that were sealed";
const ROOT_CHECK = "the root of a seal is that of its accounts, signed, and follows the one before";

const SIGNER_CHECK = "a root is signed by a key of ours";

const SEALS_PER_PAGE = 500;

type Findings = Pick<AuditFindings, "add">;

/** `keys`: those that sign now. Null: this run does not look at who signed. */
export const sealAudit = (keys: readonly Pick<ProofKey, "publicKey">[] | null): AuditPlugin => ({
  async pages({ look, findings, full, notCompared }) {
    if (!full || !(await hasSealTables(look))) return;
    const last = await lastWindow(look);
    if (last === undefined) return;
    let untilMicros = 0n;
    const tree = new GrowingTree();
    const windows = await windowsBetween(look, 0, last.seal);
    for (const window of windows) {
      const subject = String(window.seal);
      if (window.fromMicros !== untilMicros)
        findings.add([{ check: ROOT_CHECK, subject, detail: "the window does not begin where the one before ends" }]);
      untilMicros = window.untilMicros;
      await checkChains(look, findings, window);
      await checkHouse(look, findings, window);
      await takeLeaves(look, findings, { window, tree });
      if (window.hasRoot) await checkRoot(look, findings, { window, tree });
    }
    if (keys === null) return;
    if (keys.length > 0) await checkSigners(look, findings, { windows, keys });
    else notCompared("who signed the roots of the books: SALDO_PROOF_KEY is not set");
  },
});

/**
 * The serving role may add roots, and sign them by any key, so each root needs a key that is known from outside the database. A key that
 * signed beside a known one, as while keys change, counts for the roots before.
 */
async function checkSigners(
  look: Look,
  findings: Findings,
  { windows, keys }: { windows: readonly SealWindow[]; keys: readonly Pick<ProofKey, "publicKey">[] },
): Promise<void> {
  const known = new Set(keys.map(({ publicKey }) => publicKey));
  for (const { seal, hasRoot } of windows.toReversed()) {
    const root = hasRoot ? await readRoot(look, seal) : undefined;
    if (root === undefined) continue;
    const right = rightSignatures(root.text, root.signatures);
    if (right.some(({ public_key: publicKey }) => known.has(publicKey)))
      for (const { public_key: publicKey } of right) known.add(publicKey);
    else
      findings.add([
        {
          check: SIGNER_CHECK,
          subject: String(seal),
          detail:
            right.length === 0 ? "it has no right signature" : `signed by ${right.map(({ key }) => key).join(", ")}`,
        },
      ]);
  }
}

/** The first moment all of whose lines are in the database. */
async function firstMicrosAtHand(look: Look): Promise<bigint> {
  const { month } = await readArchiveMark(look);
  return BigInt(Date.parse(`${month}-01T00:00:00Z`)) * 1_000n;
}

/**
 * Checks a window whose lines are at hand, or the part of it that is: a day of Jakarta begins before a month of UTC. Earlier lines are in the
 * archive, whose seals and this root prove them.
 */
async function checkChains(look: Look, findings: Findings, window: SealWindow): Promise<void> {
  const atHand = await firstMicrosAtHand(look);
  if (window.untilMicros <= atHand) return;
  const found: Violation[] = [];
  await checkChainsAtHand(look, { add: (violations) => void found.push(...violations) }, { window, atHand });
  // The month may have been archived meanwhile, and some of its lines were missing then.
  if (found.length > 0 && atHand === (await firstMicrosAtHand(look))) findings.add(found);
}

async function checkChainsAtHand(
  look: Look,
  findings: Findings,
  { window, atHand }: { window: SealWindow; atHand: bigint },
): Promise<void> {
  const sealed = new Set<string>();
  const isCut = window.fromMicros < atHand;
  const span = { fromMicros: isCut ? atHand : window.fromMicros, untilMicros: window.untilMicros };
  for await (const seal of sealsOfWindow(look, window.seal)) {
    sealed.add(seal.accountId);
    if (!isCut) await checkChain(look, findings, { window, seal });
    else findings.add((await checkCutChain(look, seal, span)).map(asViolation(seal)));
  }
  // Without a root its seals are still being written.
  if (!window.hasRoot) return;
  for await (const accountId of activeAccounts(look, span))
    if (!sealed.has(accountId))
      findings.add([
        { check: CHAIN_CHECK, subject: accountId, detail: `has lines in seal ${window.seal}, which has none of it` },
      ]);
}

/** Folds the chain of our own postings again. */
async function checkHouse(look: Look, findings: Findings, window: SealWindow): Promise<void> {
  const sealed = await latestHouseSeal(look, window.seal);
  if (sealed?.seal !== window.seal) return;
  const { digest, lines } = await foldHouse(look, window);
  if (digest.equals(sealed.digest) && lines === sealed.lines) return;
  const found: FoundLine[] = [];
  const before = await latestHouseSeal(look, window.seal - 1);
  for await (const line of readHouseLines(look, await houseSpan(look, window, before)))
    found.push({ id: line.id, mark: markOf(line.text).toString("hex") });
  const marks = marksIn(await readHouseMarks(look, window.seal));
  findings.add(
    differences(marks, found).map(({ id, detail }) => ({
      check: HOUSE_CHECK,
      subject: id ?? String(window.seal),
      detail: `seal ${window.seal}: ${detail}`,
    })),
  );
}

async function checkChain(
  look: Look,
  findings: Findings,
  { window, seal }: { window: SealWindow; seal: AccountSeal },
): Promise<void> {
  const { accountId } = seal;
  const before = await latestSeal(look, accountId, window.seal - 1);
  const { digest, lines, balance } = await foldWindow(look, accountId, { window, before });
  if (digest.equals(seal.digest) && lines === seal.lines && balance === seal.balance) return;
  const found: FoundLine[] = [];
  for await (const line of readLines(look, accountId, window))
    found.push({ id: line.id, mark: markOf(line.text).toString("hex") });
  const sealed = marksIn(await readMarks(look, accountId, window.seal));
  findings.add(differences(sealed, found).map(asViolation(seal)));
}

const asViolation =
  ({ accountId, seal }: AccountSeal) =>
  ({ id, detail }: LineDifference): Violation => ({
    check: CHAIN_CHECK,
    subject: id ?? accountId,
    detail: `account ${accountId}, seal ${seal}: ${detail}`,
  });

async function* pagesOfSeals(seals: AsyncIterable<AccountSeal>): AsyncGenerator<AccountSeal[], void> {
  let page: AccountSeal[] = [];
  for await (const seal of seals) {
    page.push(seal);
    if (page.length < SEALS_PER_PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** Puts the seals of a window into the tree of all windows up to it. */
async function takeLeaves(
  look: Look,
  findings: Findings,
  { window: { seal, hasRoot }, tree }: { window: SealWindow; tree: GrowingTree },
): Promise<void> {
  for await (const page of pagesOfSeals(sealsOfWindow(look, seal))) {
    const places = await readPlaces(
      look,
      page.map(({ accountId }) => accountId),
    );
    for (const sealed of page) {
      const place = places.get(sealed.accountId);
      if (place !== undefined) tree.set(place, leafOf(sealed));
      else if (hasRoot && tree.without.size < SEALS_PER_PAGE) tree.without.add(sealed.accountId);
    }
  }
}

async function checkRoot(
  look: Look,
  findings: Findings,
  { window: { seal }, tree }: { window: SealWindow; tree: GrowingTree },
): Promise<void> {
  const [own, previous] = [await readRoot(look, seal), await readRoot(look, seal - 1)];
  if (own === undefined) return;
  const text = readable(() => readRootText(own));
  if (text === null) {
    findings.add([{ check: ROOT_CHECK, subject: String(seal), detail: "its text is no root" }]);
    return;
  }
  const { root, previous: named, accounts, tree: kind, house } = text;
  const comesTo = kind === 2 ? tree.root(accounts) : merkleRoot((await readLeaves(look, seal)).hashes);
  const chain = await latestHouseSeal(look, seal);
  const problems = [
    root !== comesTo?.toString("hex") && "the accounts come to another root",
    kind === 2 &&
      tree.without.size > 0 &&
      `account ${[...tree.without].slice(0, 3).join(", ")} has a seal and no place in the tree`,
    house !== undefined &&
      (chain?.seal !== seal || chain.digest.toString("hex") !== house) &&
      "the chain of the house has another digest",
    named !== (previous === undefined ? null : sha256(previous.text).toString("hex")) &&
      "the root before is another one",
    !areSignaturesRight(own.text, own.signatures) && "a signature is wrong, or there is none",
  ].filter((problem) => problem !== false);
  if (problems.length > 0) findings.add([{ check: ROOT_CHECK, subject: String(seal), detail: problems.join("; ") }]);
}
