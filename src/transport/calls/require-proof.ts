// The proof of identity that a signed-in person needs before a method runs. The contract has it in the options `fresh_proof`
// and `before_second_factor`; a method without them has the stricter rule for operators.

import { getOption, type DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { before_second_factor, fresh_proof, FreshProof } from "#gen/saldo/options/v1/options_pb.ts";
import { isFresh, isProved } from "../../identity/session-proof.ts";
import type { OperatorPrincipal, SessionPrincipal } from "../../identity/principal.ts";
import { FreshAuthenticationRequired, SecondFactorRequired } from "../../kernel/errors.ts";

type ProofRule = {
  /** A person without a required second factor may call the method. */
  readonly isOpenBefore: boolean;
  readonly freshFor: Readonly<Record<(OperatorPrincipal | SessionPrincipal)["kind"], boolean>>;
};

const rules = new Map<DescMethod, ProofRule>();

/** The proofs that a method requires of people. */
export function proofRuleOf(method: DescMethod): ProofRule {
  const known = rules.get(method);
  if (known !== undefined) return known;
  const asked = getOption(method, fresh_proof);
  const isRead = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const always = asked === FreshProof.REQUIRED;
  const isOpenBefore = getOption(method, before_second_factor);
  const changesAsOperator = asked === FreshProof.UNSPECIFIED && !isRead && !isOpenBefore;
  const rule: ProofRule = { isOpenBefore, freshFor: { session: always, operator: always || changesAsOperator } };
  rules.set(method, rule);
  return rule;
}

/** Refuses a person without the required proof. Errors: SecondFactorRequired, FreshAuthenticationRequired. */
export function requireProof(method: DescMethod, { kind, proof }: OperatorPrincipal | SessionPrincipal): void {
  const rule = proofRuleOf(method);
  if (!rule.isOpenBefore) {
    if (proof.mustHaveFactor && !proof.hasFactor) throw new SecondFactorRequired();
    // A session from before the second factor, or from a set-up link, has proved the password only.
    if (!isProved(proof)) throw new FreshAuthenticationRequired();
  }
  if (rule.freshFor[kind] && !isFresh(proof)) throw new FreshAuthenticationRequired();
}
