// Sends questions with the session: the browser has no key; the usage records name the account's playground key.

import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { beginExchange, type Exchange, type PlaygroundSettings, requestOf, withPiece } from "./conversation.ts";
import { sendIn } from "./send.ts";

export type Conversation = {
  readonly exchanges: readonly Exchange[];
  readonly isRunning: boolean;
  /** `earlier`: the exchanges before the conversation's own exchanges. */
  readonly ask: (asked: Asked) => void;
  /** Sends the last question again, in place of the failed one. */
  readonly askAgain: (asked: Omit<Asked, "question">) => void;
  readonly stop: () => void;
  readonly clear: () => void;
};

/** A question, and the model that it is sent to. */
type Asked = {
  readonly model: string;
  readonly question: string;
  readonly settings: PlaygroundSettings;
  readonly earlier?: readonly Exchange[];
};

/** The conversation of this visit. Leaving the page stops a running answer. */
export function useConversation(): Conversation {
  const queries = useQueryClient();
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const running = useRef<AbortController | null>(null);
  const nextId = useRef(1);
  useEffect(() => () => running.current?.abort(), []);

  const clear = useCallback(() => {
    running.current?.abort();
    setExchanges([]);
  }, []);

  const change = (id: number, by: (exchange: Exchange) => Exchange) =>
    setExchanges((all) => all.map((each) => (each.id === id ? by(each) : each)));

  const end = (id: number, startedAt: number, how: Partial<Exchange>) =>
    change(id, (exchange) => ({ ...exchange, ...how, durationMs: performance.now() - startedAt }));

  const begin = async (before: readonly Exchange[], { model, question, settings, earlier = [] }: Asked) => {
    const leaving = new AbortController();
    running.current = leaving;
    const id = nextId.current++;
    const request = requestOf({ model, question }, [...earlier, ...before], settings);
    const startedAt = performance.now();
    const { format } = settings;
    setExchanges([...before, beginExchange(id, question, { format, request })]);
    try {
      for await (const piece of sendIn(format, request, leaving.signal)) {
        change(id, (exchange) => withPiece(exchange, piece));
      }
      end(id, startedAt, { state: "done" });
    } catch (error) {
      end(id, startedAt, leaving.signal.aborted ? { state: "stopped" } : { state: "failed", error });
    }
    if (running.current === leaving) running.current = null;
    // Balance, usage and budgets have changed.
    await Promise.all(
      [BillingService, KeysService].map((schema) =>
        queries.invalidateQueries({ queryKey: createConnectQueryKey({ schema, cardinality: undefined }) }),
      ),
    );
  };

  return {
    exchanges,
    isRunning: exchanges.at(-1)?.state === "running",
    ask: (asked) => void begin(exchanges, asked),
    askAgain: (asked) => {
      const last = exchanges.at(-1);
      if (last !== undefined) void begin(exchanges.slice(0, -1), { ...asked, question: last.question });
    },
    stop: () => running.current?.abort(),
    clear,
  };
}
