// The chains of accounts, their roots, and the verifier of statements.

import type { PlantedBug } from "../planted-bug.ts";

const PROOF = "src/billing/proof/";
const sealed = (test: string) => ({ file: "test/money/statement-proof.test.ts", test });
const forged = (test: string) => ({ file: "test/money/forged-seals.test.ts", test });
const grown = (test: string) => ({ file: "test/money/seal-growth.test.ts", test });
const verified = (test: string) => ({ file: "test/money/statement-verifiers.test.ts", test });

/** Each with the test that must notice it. */
export const SEAL_BUGS: readonly PlantedBug[] = [
  {
    name: "a seal leaves out lines that were committed long after their id",
    edits: [{ file: `${PROOF}line-store.ts`, find: "UNION ALL (${POSTING_COLUMNS} AND ${POSTING.late})", replace: "" }],
    noticedBy: sealed("seals a line of a sealed day in the window of its own time"),
  },
  {
    name: "a day is sealed while its lines can still come",
    edits: [
      {
        file: `${PROOF}seal.ts`,
        find: "billingDay(nowMs - SETTLE_MS - DAY_MS)",
        replace: "billingDay(nowMs - DAY_MS)",
      },
    ],
    noticedBy: sealed("seals no day before an hour after its end"),
  },
  {
    name: "a root counts as sent that a place has refused",
    edits: [
      {
        file: `${PROOF}send-roots.ts`,
        find: "if (!response.ok) throw",
        replace: "if (response.status < 100) throw",
      },
    ],
    noticedBy: { file: "test/money/sent-roots.test.ts", test: "posts a root again that was answered with" },
  },
  {
    name: "the digest of a line does not cover the one before it",
    edits: [{ file: `${PROOF}chain.ts`, find: "return sha256(previous, line);", replace: "return sha256(line);" }],
    noticedBy: verified("refuse a statement without one of its lines"),
  },
  {
    name: "the verifier takes the cost from the line",
    edits: [{ file: `${PROOF}verify.ts`, find: "if (cost !== recomputed)", replace: "if (cost < 0n)" }],
    noticedBy: verified("refuse a line whose cost is not that of its tokens"),
  },
  {
    name: "the verifier does not follow the path to the root",
    edits: [
      {
        file: `${PROOF}verify.ts`,
        find: 'if (reached !== readObject(root.text)?.["root"])',
        replace: 'if (reached === "")',
      },
    ],
    noticedBy: verified("refuse a statement with any flipped bit"),
  },
  {
    name: "the verifier takes a root that no key signed",
    edits: [
      {
        file: `${PROOF}verify.ts`,
        find: "if (!isSignatureRight(root.text, signature))",
        replace: 'if (signature.key === "")',
      },
    ],
    noticedBy: verified("refuse a statement with any flipped bit"),
  },
  {
    name: "the audit compares no chain behind the last window",
    edits: [{ file: `${PROOF}audit-seals.ts`, find: "await checkChains(look, findings, window);", replace: "" }],
    noticedBy: sealed("the audit of sealed books on the"),
  },
  {
    name: "the audit takes a root that a stranger signed",
    edits: [
      {
        file: `${PROOF}audit-seals.ts`,
        find: "known.has(publicKey)))",
        replace: "publicKey.length > 0))",
      },
    ],
    noticedBy: forged("finds a root that a stranger signed, between roots of ours as well"),
  },
  {
    name: "a root is signed over a seal that another put there",
    edits: [
      {
        file: `${PROOF}seal.ts`,
        find: "await requireRightSeals(look, window, own);",
        replace: "",
      },
    ],
    noticedBy: forged("is not signed by us: a seal of a window to come, and one put behind a root"),
  },
  {
    name: "the audit does not compare the roots",
    edits: [
      {
        file: `${PROOF}audit-seals.ts`,
        find: "if (window.hasRoot) await checkRoot(look, findings, { window, tree });",
        replace: "",
      },
    ],
    noticedBy: sealed("the audit of sealed books on the"),
  },
  {
    name: "a root is signed over a stored tree that another changed",
    edits: [
      {
        file: `${PROOF}tree.ts`,
        find: "if (before !== null) await requireTree(look, { before, level, old });",
        replace: "",
      },
    ],
    noticedBy: forged("is not signed by us: a tree with another node, or another order of accounts"),
  },
  {
    name: "an account's chain goes on behind a seal that is under no root",
    edits: [
      {
        file: `${PROOF}seal.ts`,
        find: "(await sealedAccount(look, newcomers, before.seal)) !== undefined)",
        replace: "before.seal < 0)",
      },
    ],
    noticedBy: forged("is not signed by us: a seal of a window to come, and one put behind a root"),
  },
  {
    name: "the audit does not fold the house's postings again",
    edits: [{ file: `${PROOF}audit-seals.ts`, find: "await checkHouse(look, findings, window);", replace: "" }],
    noticedBy: grown("finds a posting of our own accounts that was changed after it was sealed"),
  },
  {
    name: "the audit takes a house's seal whose digest the root does not have",
    edits: [
      {
        file: `${PROOF}audit-seals.ts`,
        find: "house !== undefined &&",
        replace: "house === null &&",
      },
    ],
    noticedBy: grown("finds a posting of our own accounts that was changed after it was sealed"),
  },
];
