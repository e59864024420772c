// Two models side by side: each question is sent to both, each with its own answers before it, and each is billed.

import { useEffect } from "react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import type { Exchange, PlaygroundSettings } from "./conversation.ts";
import { useConversation } from "./use-conversation.ts";

export type Pair = {
  readonly exchanges: readonly Exchange[];
  /** Those of the other model, from the question on with which the comparison began. Empty: there is none. */
  readonly others: readonly Exchange[];
  readonly isRunning: boolean;
  readonly ask: (question: string) => void;
  /** Sends the last question again, in place of the failed one. Null: the settings do not allow it. */
  readonly askAgain: (() => void) | null;
  readonly askOtherAgain: (() => void) | null;
  readonly stop: () => void;
  readonly clear: () => void;
};

/** The conversation with a model and, beside it, that with another one. */
export function usePair(model: Model, other: Model | undefined, settings: PlaygroundSettings | null): Pair {
  const main = useConversation();
  const side = useConversation();
  const { clear: clearSide } = side;
  const otherId = other?.id;
  // Answers of two models in one column would be taken for one model's.
  useEffect(() => clearSide(), [clearSide, otherId]);
  // The other model is sent what was asked and answered before it was chosen.
  const earlier = main.exchanges.slice(0, main.exchanges.length - side.exchanges.length);
  return {
    exchanges: main.exchanges,
    others: side.exchanges,
    isRunning: main.isRunning || side.isRunning,
    ask: (question) => {
      if (settings === null) return;
      main.ask({ model: model.id, question, settings });
      if (otherId !== undefined) side.ask({ model: otherId, question, settings, earlier });
    },
    askAgain: settings === null ? null : () => main.askAgain({ model: model.id, settings }),
    askOtherAgain:
      settings === null || otherId === undefined ? null : () => side.askAgain({ model: otherId, settings, earlier }),
    stop: () => {
      main.stop();
      side.stop();
    },
    clear: () => {
      main.clear();
      side.clear();
    },
  };
}
