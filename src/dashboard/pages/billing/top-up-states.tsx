// How a top-up's state is shown.

import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge, type Tone } from "../../components/badge.tsx";
import { TOP_UP_STATE_ABOUTS, TOP_UP_STATE_MESSAGES } from "./billing-messages.ts";

type Shown = { readonly word: keyof typeof TOP_UP_STATE_MESSAGES.id; readonly tone: Tone };

// A state that only a newer server knows.
const NOT_KNOWN: Shown = { word: "other", tone: "neutral" };

const SHOWN: Readonly<Record<number, Shown>> = {
  [TopUpState.UNSPECIFIED]: NOT_KNOWN,
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
} satisfies Record<TopUpState, Shown>;

/** What the state means for the balance and for the payer, as a sentence. */
export function useStateAbout(state: TopUpState): string {
  const abouts = useMessages(TOP_UP_STATE_ABOUTS);
  return abouts[(SHOWN[state] ?? NOT_KNOWN).word];
}

/** The state as a word with an icon. */
export function TopUpBadge({ state }: { readonly state: TopUpState }) {
  const messages = useMessages(TOP_UP_STATE_MESSAGES);
  const { word, tone } = SHOWN[state] ?? NOT_KNOWN;
  return <Badge tone={tone}>{messages[word]}</Badge>;
}
