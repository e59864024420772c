// The security log's filters in the address, as the contract takes them.

import { SecurityEventKind, SecurityOutcome } from "#gen/saldo/accounts/v1/person_pb.ts";
import { EVENT_KIND_MESSAGES } from "./event-kind-messages.ts";

/** The filters in the address. */
export type SecuritySearch = {
  readonly person?: string | undefined;
  readonly account?: string | undefined;
  readonly kind?: string | undefined;
  readonly outcome?: string | undefined;
  /** "yes": events of operators' reads are listed too. */
  readonly reads?: string | undefined;
};

/** The outcomes of an event in the address. */
export const OUTCOMES = ["succeeded", "refused"] as const;
const OUTCOME_OF = {
  succeeded: SecurityOutcome.SUCCEEDED,
  refused: SecurityOutcome.REFUSED,
} as const satisfies Record<(typeof OUTCOMES)[number], SecurityOutcome>;

/** The name of an outcome in the address. Undefined: this page does not know it. */
export function outcomeNameOf(outcome: SecurityOutcome): (typeof OUTCOMES)[number] | undefined {
  return OUTCOMES.find((name) => OUTCOME_OF[name] === outcome);
}

/** The name of a kind of event in the address. Undefined: this page does not know it. */
export function kindNameOf(kind: SecurityEventKind): keyof typeof EVENT_KIND_MESSAGES.id | undefined {
  return KINDS.find((name) => kindOf(name) === kind);
}

const KINDS = Object.keys(EVENT_KIND_MESSAGES.id) as (keyof typeof EVENT_KIND_MESSAGES.id)[];

function kindOf(name: (typeof KINDS)[number]): SecurityEventKind {
  return SecurityEventKind[name.toUpperCase() as Uppercase<typeof name>];
}

/** The id of a person, an account or a session. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** One field takes an e-mail address or a person's id. An unknown event or outcome is omitted. */
export function filterOf({ person = "", account = "", kind = "", outcome = "", reads }: SecuritySearch) {
  const who = person.trim().toLowerCase();
  const isId = UUID.test(who);
  const named = OUTCOMES.find((each) => each === outcome);
  const chosen = KINDS.find((each) => each === kind);
  return {
    personId: isId ? who : "",
    email: isId ? "" : who,
    accountId: account.trim().toLowerCase(),
    kind: chosen === undefined ? SecurityEventKind.UNSPECIFIED : kindOf(chosen),
    // An open page of operators reads every few seconds: sign-ins and refusals would be lost among those lines.
    withoutOperatorReads: reads === undefined,
    outcome: named === undefined ? SecurityOutcome.UNSPECIFIED : OUTCOME_OF[named],
  };
}
