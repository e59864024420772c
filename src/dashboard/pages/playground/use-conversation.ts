// Sends questions with the session: the browser has no key; the usage records name the account's playground key.

import { createClient } from "@connectrpc/connect";
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { transport } from "../../api/transport.ts";
import type { SnippetRequest } from "../../snippets/code.ts";
import {
  beginExchange,
  type Exchange,
  type PlaygroundSettings,
  requestOf,
  withAnswer,
  withPiece,
} from "./conversation.ts";

const gateway = createClient(GatewayService, transport);

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
    setExchanges([...before, beginExchange(id, question, request)]);
    try {
      await answer(request, leaving.signal, (by) => change(id, by));
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

async function answer(
  { model, messages, temperature, maxTokens, stream }: SnippetRequest,
  signal: AbortSignal,
  change: (by: (exchange: Exchange) => Exchange) => void,
): Promise<void> {
  const request = {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  // An answer has no time limit, unlike other calls.
  const options = { signal, timeoutMs: 0 };
  if (stream !== true) {
    const whole = await gateway.createChatCompletion(request, options);
    change((exchange) => withAnswer(exchange, whole));
    return;
  }
  for await (const piece of gateway.streamChatCompletion(request, options)) {
    change((exchange) => withPiece(exchange, piece));
  }
}
