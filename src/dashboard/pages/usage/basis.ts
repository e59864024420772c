// How the tokens of a record were counted, as a word, a tone and a sentence.

import { UsageBasis } from "#gen/saldo/billing/v1/usage_pb.ts";
import type { Tone } from "../../components/badge.tsx";
import type { REQUEST_MESSAGES } from "./request-messages.ts";
import type { USAGE_MESSAGES } from "./usage-messages.ts";

type Word = keyof typeof USAGE_MESSAGES.id;
type About = keyof typeof REQUEST_MESSAGES.id;
type BasisText = { readonly word: Word; readonly about: About; readonly tone: Tone };

const EXACT: BasisText = { word: "exact", about: "exactAbout", tone: "good" };

const TEXTS: Readonly<Record<number, BasisText>> = {
  [UsageBasis.UNSPECIFIED]: EXACT,
  [UsageBasis.EXACT]: EXACT,
  [UsageBasis.DRAINED]: { word: "drained", about: "drainedAbout", tone: "info" },
  [UsageBasis.ESTIMATED]: { word: "estimated", about: "estimatedAbout", tone: "warn" },
  [UsageBasis.RECOVERED]: { word: "recovered", about: "recoveredAbout", tone: "warn" },
  [UsageBasis.FREE]: { word: "free", about: "freeAbout", tone: "bad" },
} satisfies Record<UsageBasis, BasisText>;

/** The texts of a basis. */
export function toldBasis(basis: UsageBasis): BasisText {
  return TEXTS[basis] ?? EXACT;
}
