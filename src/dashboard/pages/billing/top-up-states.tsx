// How a top-up's state is told.

import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { useWords } from "../../language/language.tsx";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { TOP_UP_STATE_WORDS } from "./billing-words.ts";

type Told = { readonly word: keyof typeof TOP_UP_STATE_WORDS.id; readonly tone: Tone };

const TOLD: Readonly<Record<number, Told>> = {
  [TopUpState.UNSPECIFIED]: { word: "created", tone: "neutral" },
  [TopUpState.CREATED]: { word: "created", tone: "neutral" },
  [TopUpState.PENDING]: { word: "pending", tone: "warn" },
  [TopUpState.PAID]: { word: "paid", tone: "good" },
  [TopUpState.EXPIRED]: { word: "expired", tone: "neutral" },
  [TopUpState.FAILED]: { word: "failed", tone: "bad" },
  [TopUpState.CANCELED]: { word: "canceled", tone: "neutral" },
  [TopUpState.REVIEW]: { word: "review", tone: "info" },
  [TopUpState.REFUNDED]: { word: "refunded", tone: "neutral" },
  [TopUpState.PARTIALLY_REFUNDED]: { word: "partially_refunded", tone: "neutral" },
  [TopUpState.CHARGED_BACK]: { word: "charged_back", tone: "bad" },
} satisfies Record<TopUpState, Told>;

/** Whether the money has arrived, or came and went. */
export function isSettled(state: TopUpState): boolean {
  return (
    state === TopUpState.PAID ||
    state === TopUpState.REFUNDED ||
    state === TopUpState.PARTIALLY_REFUNDED ||
    state === TopUpState.CHARGED_BACK
  );
}

/** Whether the payer can still be expected to pay at the provider's page. */
export function isPayable(state: TopUpState): boolean {
  return state === TopUpState.CREATED || state === TopUpState.PENDING;
}

/** The state as a word with a sign. */
export function TopUpBadge({ state }: { readonly state: TopUpState }) {
  const words = useWords(TOP_UP_STATE_WORDS);
  // A state that a newer server knows and this page does not.
  const { word, tone } = TOLD[state] ?? { word: "created", tone: "neutral" };
  return <Badge tone={tone}>{words[word]}</Badge>;
}
