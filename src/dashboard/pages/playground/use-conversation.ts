// Sends questions with the session: the browser has no key; the usage records name the account's playground key.

import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { beginExchange, type Exchange, type PlaygroundSettings, requestOf, withPiece } from "./conversation.ts";
import { sendIn } from "./send.ts";

export type Conversation = {
  readonly exchanges: readonly Exchange[];
  readonly isRunning: boolean;
  readonly ask: (model: string, question: string, settings: PlaygroundSettings) => void;
  /** Sends the last question again, in place of the failed one. */
  readonly askAgain: (model: string, settings: PlaygroundSettings) => void;
  readonly stop: () => void;
  readonly clear: () => void;
};

/** The conversation of this visit. Leaving the page stops a running answer. */
export function useConversation(): Conversation {
  const queries = useQueryClient();
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const running = useRef<AbortController | null>(null);
  const nextId = useRef(1);
  useEffect(() => () => running.current?.abort(), []);

  const change = (id: number, by: (exchange: Exchange) => Exchange) =>
    setExchanges((all) => all.map((each) => (each.id === id ? by(each) : each)));

  const begin = async (before: readonly Exchange[], model: string, question: string, settings: PlaygroundSettings) => {
    const leaving = new AbortController();
    running.current = leaving;
    const id = nextId.current++;
    const request = requestOf({ model, question }, before, settings);
    const { format } = settings;
    setExchanges([...before, beginExchange(id, question, { format, request })]);
    try {
      for await (const piece of sendIn(format, request, leaving.signal)) {
        change(id, (exchange) => withPiece(exchange, piece));
      }
      change(id, (exchange) => ({ ...exchange, state: "done" }));
    } catch (error) {
      change(id, (exchange) =>
        leaving.signal.aborted ? { ...exchange, state: "stopped" } : { ...exchange, state: "failed", error },
      );
    }
    if (running.current === leaving) running.current = null;
    // Balance and usage have changed.
    await queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: BillingService, cardinality: undefined }),
    });
  };

  return {
    exchanges,
    isRunning: exchanges.at(-1)?.state === "running",
    ask: (model, question, settings) => void begin(exchanges, model, question, settings),
    askAgain: (model, settings) => {
      const last = exchanges.at(-1);
      if (last !== undefined) void begin(exchanges.slice(0, -1), model, last.question, settings);
    },
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort();
      setExchanges([]);
    },
  };
}
