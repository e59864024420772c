// The audit of archived usage. The sums that stand for the records of a month are those that were sealed and signed; what is shown of the
// month, and what was booked as our loss in it, come to the same; and the file of each month is the one whose manifest was signed.

import { join } from "node:path";
import type { Look } from "../../database/throttled-reader.ts";
import { readArchiveMark } from "../../ledger/archived-usage.ts";
import type { AuditFindings } from "../../ledger/audit/findings.ts";
import type { AuditPlugin } from "../../ledger/audit/plugin.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import type { ProofKey } from "../proof/signing.ts";
import { readable } from "../proof/readable.ts";
import { readRoot } from "../proof/seal-store.ts";
import { foldAccountSums } from "./account-sums.ts";
import { fileOf, measureFile } from "./archive-folder.ts";
import { dateOf } from "./archive-store.ts";
import { type Month, monthOf } from "./month.ts";
import { foldRollUps } from "./roll-up-digest.ts";
import { hashOf, isSigned, readManifest, readSeal, type Seal, type SignedText } from "./signed-text.ts";
import { NOT_ROLLED_UP } from "./takeable.ts";

const SEAL_CHECK = "the sums of an archived month are those that were sealed and signed";
const SHOWN_CHECK = "what is shown of an archived month comes to its sums";
const LOSS_CHECK = "what was cut off charges of an archived month is booked as our loss";
const FILE_CHECK = "the file of an archived month is the one that was signed";

const SEALS = `SELECT to_char(month, 'YYYY-MM') AS month, text, signatures FROM usage_archive ORDER BY month`;
const MANIFESTS = `SELECT text, signatures FROM usage_archive_file WHERE month = $1::date`;
const LOSSES = `
SELECT a.account_id AS id, a.loss::text AS loss, p.booked::text AS booked FROM usage_archive_account a
CROSS JOIN LATERAL (
  SELECT coalesce(sum(amount), 0) AS booked FROM posting
  WHERE account_id = a.account_id AND id >= $2::uuid AND id < $3::uuid AND debit = '${systemAccounts.operatorLoss}' AND reason = 'uncollected'
) p
WHERE a.month = $1::date AND p.booked <> a.loss LIMIT 101`;
// Roots that none of our keys signed are found by the audit of roots.
const SIGNERS = `
SELECT DISTINCT signature ->> 'public_key' AS key
FROM proof_root CROSS JOIN jsonb_array_elements(CASE jsonb_typeof(signatures) WHEN 'array' THEN signatures ELSE '[]' END) AS signature`;
const UNSEALED = `
SELECT DISTINCT to_char(month, 'YYYY-MM') AS month FROM usage_archive_account a
WHERE month < $1::date AND NOT EXISTS (SELECT FROM usage_archive s WHERE s.month = a.month)`;

type Findings = Pick<AuditFindings, "add">;
/** What the archive is compared with, beyond the database: the keys that sign, and the folder of its files. */
export type ArchiveWitnesses = {
  readonly keys: readonly Pick<ProofKey, "publicKey">[];
  readonly folder: string | null;
};

/** Whose signatures count: the public keys that sign now, and those that signed roots of the books. Null: anyone's. */
type Signers = ReadonlySet<string> | null;

/** `witnesses` null: this run looks neither at who signed nor at files. */
export const archiveAudit = (witnesses: ArchiveWitnesses | null): AuditPlugin => ({
  async pages({ look, findings, full, notCompared }) {
    if (!full) return;
    const seals = await look<SignedText & { month: string }>(SEALS);
    if (seals.length === 0) return;
    const { month: mark } = await readArchiveMark(look);
    const signers = witnesses === null ? null : await readSigners(look, witnesses.keys);
    for (const { month } of await look<{ month: string }>(UNSEALED, [`${mark}-01`]))
      findings.add([{ check: SEAL_CHECK, subject: month, detail: "it has sums, and no seal" }]);
    let previous: SignedText | null = null;
    for (const signed of seals) {
      const month = monthOf(signed.month);
      const seal = readable(() => readSeal(signed.text));
      const problems =
        seal === null ? ["its text is no seal"] : await problemsOfSeal(look, { signed, seal, previous, signers });
      findings.add(problems.map(problem(SEAL_CHECK, month)));
      if (seal !== null && month.name < mark)
        await checkAwayMonth(look, findings, { month, signed, signers, folder: witnesses?.folder });
      previous = signed;
    }
    if (witnesses?.folder === null) notCompared("the files of archived usage: SALDO_USAGE_ARCHIVE_DIR is not set");
  },
});

async function readSigners(look: Look, keys: ArchiveWitnesses["keys"]): Promise<ReadonlySet<string>> {
  const former = await look<{ key: string }>(SIGNERS);
  return new Set([...keys.map(({ publicKey }) => publicKey), ...former.map(({ key }) => key)]);
}

/** Whether all signatures of a text are right, and one of them counts. */
function isSignedByOurs(signed: SignedText, signers: Signers): boolean {
  return isSigned(signed) && (signers === null || hasSigner(signed, signers));
}

function hasSigner({ signatures }: SignedText, signers: ReadonlySet<string>): boolean {
  return Array.isArray(signatures) && signatures.some((signature) => signers.has(signature?.public_key));
}

const problem =
  (check: string, { name }: Month) =>
  (detail: string): { check: string; subject: string; detail: string } => ({ check, subject: name, detail });

async function problemsOfSeal(
  look: Look,
  {
    signed,
    seal,
    previous,
    signers,
  }: {
    signed: SignedText & { month: string };
    seal: Seal;
    previous: SignedText | null;
    signers: Signers;
  },
): Promise<string[]> {
  const root = await readRoot(look, seal.rootSeal);
  const sums = await foldAccountSums(look, `${signed.month}-01`);
  return [
    seal.month !== signed.month && `the seal is of ${seal.month}`,
    !isSigned(signed) && "a signature is wrong",
    signers !== null && !hasSigner(signed, signers) && "it is signed by no key of ours",
    seal.previous !== (previous === null ? null : hashOf(previous.text)) && "the seal before is another one",
    root === undefined && `the root ${seal.rootSeal} is missing`,
    root !== undefined && hashOf(root.text) !== seal.root && `the root ${seal.rootSeal} is another one`,
    sums.accountsDigest !== seal.accountsDigest &&
      `the sums of its accounts charge ${sums.charge}, and have another digest; sealed was ${seal.charge}`,
  ].filter((each) => each !== false);
}

async function checkAwayMonth(
  look: Look,
  findings: Findings,
  {
    month,
    signed,
    signers,
    folder,
  }: { month: Month; signed: SignedText; signers: Signers; folder: string | null | undefined },
): Promise<void> {
  const shown = await look<{ id: string }>(NOT_ROLLED_UP, [dateOf(month), month.fromQuarter, month.untilQuarter]);
  findings.add(shown.map(({ id }) => ({ check: SHOWN_CHECK, subject: id, detail: `roll-ups of ${month.name}` })));
  const { rollUpsDigest } = readSeal(signed.text);
  if (rollUpsDigest !== null && (await foldRollUps(look, month)) !== rollUpsDigest)
    findings.add([problem(SHOWN_CHECK, month)("roll-ups are not those that were sealed, of a model, key or time")]);
  const losses = await look<{ id: string; loss: string; booked: string }>(LOSSES, [
    dateOf(month),
    month.fromId,
    month.untilId,
  ]);
  findings.add(
    losses.map(({ id, loss, booked }) => ({
      check: LOSS_CHECK,
      subject: id,
      detail: `${month.name}: cut off ${loss}, booked ${booked}`,
    })),
  );
  const manifests = await look<SignedText>(MANIFESTS, [dateOf(month)]);
  const right = manifests.filter(
    (each) => isSignedByOurs(each, signers) && readable(() => readManifest(each.text))?.seal === hashOf(signed.text),
  );
  const wrong = right.length < manifests.length || right.length === 0;
  if (wrong)
    findings.add([
      problem(FILE_CHECK, month)("no manifest of it is signed by a key of ours, or one is of another seal or signer"),
    ]);
  if (folder == null) return;
  findings.add((await problemsOfFile(folder, month, right)).map(problem(FILE_CHECK, month)));
}

async function problemsOfFile(folder: string, month: Month, manifests: readonly SignedText[]): Promise<string[]> {
  try {
    const { bytes, sha256 } = await measureFile(join(folder, fileOf(month)));
    const known = manifests.map(({ text }) => readManifest(text));
    if (known.some((manifest) => manifest.sha256 === sha256 && manifest.bytes === bytes)) return [];
    return [`${fileOf(month)} was changed: its SHA-256 is ${sha256}`];
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return [isMissing ? `${fileOf(month)} is missing` : `${fileOf(month)} cannot be read: ${String(error)}`];
  }
}
