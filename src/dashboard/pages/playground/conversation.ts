// The conversation on the page: each question with its answer and outcome. It is stored nowhere else.

import type { Usage } from "#gen/saldo/gateway/v1/chat_pb.ts";
import type {
  CreateChatCompletionResponse,
  StreamChatCompletionResponse,
} from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { SnippetMessage, SnippetRequest } from "../../snippets/code.ts";

/** How an answer ended, or that it is still running. */
export type AnswerState = "running" | "done" | "stopped" | "failed";

/** A question and its answer. */
export type Exchange = {
  readonly id: number;
  readonly model: string;
  readonly question: string;
  /** What was sent, with the settings and the conversation of that moment. */
  readonly request: SnippetRequest;
  readonly text: string;
  readonly reasoning: string;
  readonly state: AnswerState;
  readonly finishReason: string;
  readonly usage: Usage | null;
  /** The request's id, by which its usage record is found. Empty until the first chunk has arrived. */
  readonly requestId: string;
  /** The error. Null: there is none. */
  readonly error: unknown;
};

/** The settings beside the conversation. */
export type PlaygroundSettings = {
  readonly system: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly isStreamed: boolean;
};

/** A new exchange, which a request opens. */
export function beginExchange(id: number, question: string, request: SnippetRequest): Exchange {
  return {
    id,
    model: request.model,
    question,
    request,
    text: "",
    reasoning: "",
    state: "running",
    finishReason: "",
    usage: null,
    requestId: "",
    error: null,
  };
}

/** An exchange with one more chunk of a streamed answer. */
export function withPiece(exchange: Exchange, piece: StreamChatCompletionResponse): Exchange {
  const choice = piece.choices[0];
  return {
    ...exchange,
    requestId: requestIdOf(piece.id),
    text: exchange.text + (choice?.delta?.content ?? "") + (choice?.delta?.refusal ?? ""),
    reasoning: exchange.reasoning + (choice?.delta?.reasoningContent ?? ""),
    finishReason: choice?.finishReason ?? exchange.finishReason,
    usage: piece.usage ?? exchange.usage,
  };
}

/** An exchange with the whole answer. */
export function withAnswer(exchange: Exchange, answer: CreateChatCompletionResponse): Exchange {
  const choice = answer.choices[0];
  return {
    ...exchange,
    state: "done",
    requestId: requestIdOf(answer.id),
    text: choice?.message?.content ?? choice?.message?.refusal ?? "",
    reasoning: choice?.message?.reasoningContent ?? "",
    finishReason: choice?.finishReason ?? "",
    usage: answer.usage ?? null,
  };
}

/** The request for a question after the whole conversation. Exchanges without an answer are left out. */
export function requestOf(
  { model, question }: { readonly model: string; readonly question: string },
  exchanges: readonly Exchange[],
  { system, temperature, maxTokens, isStreamed }: PlaygroundSettings,
): SnippetRequest {
  const before = exchanges
    .filter(({ text }) => text !== "")
    .flatMap((exchange): SnippetMessage[] => [
      { role: "user", content: exchange.question },
      { role: "assistant", content: exchange.text },
    ]);
  const first: SnippetMessage[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  return {
    model,
    messages: [...first, ...before, { role: "user", content: question }],
    ...(temperature === null ? {} : { temperature }),
    ...(maxTokens === null ? {} : { maxTokens }),
    ...(isStreamed ? { stream: true } : {}),
  };
}

/** A request as code, and whether it was sent, would be sent next, or is an example. */
export type ShownRequest = { readonly kind: "sent" | "next" | "example"; readonly request: SnippetRequest };

/** The request that the page shows as code: the one with the draft, or else the last one that was sent. */
export function shownRequest(
  {
    model,
    draft,
    example,
    settings,
  }: {
    readonly model: string;
    readonly draft: string;
    readonly example: string;
    readonly settings: PlaygroundSettings;
  },
  exchanges: readonly Exchange[],
): ShownRequest {
  const question = draft.trim();
  const sent = exchanges.at(-1)?.request;
  if (question !== "") return { kind: "next", request: requestOf({ model, question }, exchanges, settings) };
  if (sent !== undefined) return { kind: "sent", request: sent };
  return { kind: "example", request: requestOf({ model, question: example }, [], settings) };
}

function requestIdOf(completionId: string): string {
  return completionId.replace(/^chatcmpl-/, "");
}
