// What a session has proved about its person, and when. The columns are on auth.session; the database's clock decides, so all
// nodes agree. A demo's one click counts as a proof only in a process that serves a demo.

import type { Pool, PoolClient } from "pg";
import type { SessionProof } from "./principal.ts";

/** For how long a proof counts as fresh. */
export const FRESH_PROOF_MINUTES = 5;
/** When an operator's session ends: after this time without a call, and this time after sign-in in any case. */
export const OPERATOR_IDLE_MINUTES = 60;
export const OPERATOR_SESSION_HOURS = 12;

/** What a process requires of all sessions. */
export type ProofSettings = {
  /** Whether a demo's one click counts as a proof. */
  readonly isDemo: boolean;
  /** Whether all people must have a second factor. Left out: only those who must have one anywhere. */
  readonly factorForAll?: boolean;
};

/** What was shown when a session began or was confirmed. */
export type ProofKind = "password" | "factor" | "demo";

/** Whether the session has shown the second factor of a person who has one. */
export function isProved(proof: SessionProof): boolean {
  return !proof.hasFactor || proof.isFactorProved;
}

/** Whether the session has shown everything there is to show, within the last minutes. */
export function isFresh(proof: SessionProof): boolean {
  return isProved(proof) && proof.isRecent;
}

/**
 * The columns of SessionProof over `s` (auth.session) and `p` (auth.person). `forAll` is a parameter: whether all people must have
 * a second factor, and not only operators and people who act for an account with a production merchant, or have one. `isDemo` is one too: in production the mark
 * of a demo's click is worth nothing, even if a demo has left one in the table.
 */
export const proofColumns = (isDemo: string, forAll: string): string => `
  ((${forAll} OR p.is_operator OR EXISTS (
    SELECT FROM public.merchant m WHERE m.account_id IN (p.account_id, s.acts_for) AND m.environment = 'production'
  )) AND NOT (${isDemo} AND s.by_demo)) AS "mustHaveFactor",
  p.two_factor_enabled AS "hasFactor",
  (s.factor_proved OR (${isDemo} AND s.by_demo)) AS "isFactorProved",
  (coalesce(s.proved_at > clock_timestamp() - interval '${FRESH_PROOF_MINUTES} minutes', false)
    OR (${isDemo} AND s.by_demo)) AS "isRecent"`;

const NOTE_PROOF = `
UPDATE auth.session
SET proved_at = clock_timestamp(), factor_proved = factor_proved OR $2 = 'factor', by_demo = $2 = 'demo'
WHERE id = $1::uuid`;

/** Records that a session has just shown something. */
export async function noteProof(client: Pool | PoolClient, sessionId: string, kind: ProofKind): Promise<void> {
  await client.query(NOTE_PROOF, [sessionId, kind]);
}
