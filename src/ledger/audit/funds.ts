// The audit of merchants' funds, folded as customers' accounts are: postings before the horizon are summed into a checkpoint, and only newer
// ones are summed together with the fund's row, in one statement. Merchants have few funds, so each run looks at each of them.

import type { Look } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import type { AuditFindings, Violation } from "./findings.ts";

const FUNDS_PER_PAGE = 200;
/** The most postings of an account that one statement folds. */
const POSTINGS_PER_PAGE = 5_000;
const CHECK = "a merchant's fund is the sum of its postings";

const FUNDS = `
SELECT f.id, f.account_id AS "accountId", f.asset, c.posted::text AS posted, c.folded_through AS through
FROM merchant_fund f LEFT JOIN fund_checkpoint c ON c.fund_id = f.id
WHERE f.id > $1::uuid ORDER BY f.id LIMIT ${FUNDS_PER_PAGE}`;
const sumOf = (fund: string, asset: string): string =>
  `coalesce(sum(CASE WHEN asset <> ${asset} THEN 0 WHEN credit = ${fund} THEN amount WHEN debit = ${fund} THEN -amount END), 0)`;
// $1 account, $2 fund, $3 asset, $4 folded through, $5 the horizon.
const FOLD = `
SELECT ${sumOf("$2::uuid", "$3")}::text AS moved, count(*)::int AS postings, max(id::text COLLATE "C")::uuid AS last
FROM (
  SELECT id, asset, debit, credit, amount FROM posting
  WHERE account_id = $1::uuid AND id > $4::uuid AND id < $5::uuid ORDER BY id LIMIT ${POSTINGS_PER_PAGE}
) page`;
// $1 account, $2 fund, $3 asset, $4 the sum of what is folded, $5 folded through.
const WRONG = `
SELECT $$${CHECK}$$ AS "check", f.id AS subject, format('posted %s, postings %s', f.posted, e.total) AS detail
FROM merchant_fund f
CROSS JOIN LATERAL (
  SELECT $4::numeric + ${sumOf("$2::uuid", "$3")} AS total FROM posting WHERE account_id = $1::uuid AND id > $5::uuid
) e
WHERE f.id = $2::uuid AND (f.posted <> e.total OR f.held < 0 OR f.posted < f.held)`;
const SAVE = `
INSERT INTO fund_checkpoint (fund_id, posted, folded_through) VALUES ($1::uuid, $2::numeric, $3::uuid)
ON CONFLICT (fund_id) DO UPDATE SET posted = excluded.posted, folded_through = excluded.folded_through`;

type Fund = { readonly id: string; readonly accountId: string; readonly asset: string };
type Fold = { readonly posted: bigint; readonly through: string };
type FundsAudit = {
  readonly look: Look;
  readonly findings: Pick<AuditFindings, "add">;
  readonly full: boolean;
  readonly horizon: string;
};

const NOTHING: Fold = { posted: 0n, through: BEFORE_ALL_IDS };

/** Compares each fund with its postings: from its checkpoint on, or (`full`) from its beginning. */
export async function auditFunds(audit: FundsAudit): Promise<void> {
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined;) {
    const funds: (Fund & { posted: string | null; through: string | null })[] = await audit.look(FUNDS, [after]);
    for (const { posted, through, ...fund } of funds) {
      const known = audit.full || posted === null || through === null ? NOTHING : { posted: BigInt(posted), through };
      await auditFund(audit, fund, known);
    }
    after = funds.at(-1)?.id;
  }
}

async function auditFund(audit: FundsAudit, fund: Fund, known: Fold): Promise<void> {
  const { look, findings } = audit;
  const folded = await fold(audit, fund, known);
  if ((await wrongFund(look, fund, folded)).length > 0) {
    // A posting appeared late or was changed behind the checkpoint, or the fund is wrong: one statement that has summed all decides.
    findings.add(await wrongFund(look, fund, NOTHING));
    if (known !== NOTHING) await look(SAVE, [fund.id, NOTHING.posted, NOTHING.through]);
  } else if (folded.through !== known.through) await look(SAVE, [fund.id, folded.posted, folded.through]);
}

/** Folds pages of postings up to the horizon. */
async function fold({ look, horizon }: FundsAudit, { id, accountId, asset }: Fund, known: Fold): Promise<Fold> {
  let { posted, through } = known;
  for (;;) {
    const [page] = await look<{ moved: string; postings: number; last: string | null }>(FOLD, [
      accountId,
      id,
      asset,
      through,
      horizon,
    ]);
    if (page === undefined || page.last === null) return { posted, through };
    posted += BigInt(page.moved);
    through = page.last;
    if (page.postings < POSTINGS_PER_PAGE) return { posted, through };
  }
}

function wrongFund(look: Look, { id, accountId, asset }: Fund, { posted, through }: Fold): Promise<Violation[]> {
  return look<Violation>(WRONG, [accountId, id, asset, posted, through]);
}
