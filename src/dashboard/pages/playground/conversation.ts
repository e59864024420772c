// The conversation on the page: each question with its answer and outcome. It is stored nowhere else.

import type { SnippetMessage, SnippetRequest } from "../../snippets/code.ts";
import { type Counts, EMBEDDINGS, type Piece } from "./piece.ts";

/** How an answer ended, or that it is still running. */
export type AnswerState = "running" | "done" | "stopped" | "failed";

/** A question and its answer. */
export type Exchange = {
  readonly id: number;
  readonly model: string;
  readonly question: string;
  /** What was sent, with the settings and the conversation of that moment. */
  readonly request: SnippetRequest;
  /** The format in which it was sent. */
  readonly format: string;
  readonly text: string;
  readonly reasoning: string;
  readonly state: AnswerState;
  readonly isCutShort: boolean;
  readonly counts: Counts | null;
  /** The request's id, by which its usage record is found. Empty until the first chunk has arrived. */
  readonly requestId: string;
  /** The error. Null: there is none. */
  readonly error: unknown;
  /** From sending to the end of the answer, as the browser measured it. Null: it is still running. */
  readonly durationMs: number | null;
};

/** The settings beside the conversation. */
export type PlaygroundSettings = {
  /** The format of the request: one of `FORMATS`, or that of embeddings. */
  readonly format: string;
  readonly system: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly isStreamed: boolean;
};

/** A new exchange, which a request opens. */
export function beginExchange(
  id: number,
  question: string,
  { format, request }: Pick<Exchange, "format" | "request">,
): Exchange {
  return {
    id,
    model: request.model,
    question,
    request,
    format,
    text: "",
    reasoning: "",
    state: "running",
    isCutShort: false,
    counts: null,
    requestId: "",
    error: null,
    durationMs: null,
  };
}

/** An exchange with one more piece of its answer. */
export function withPiece(exchange: Exchange, piece: Piece): Exchange {
  const { requestId, text = "", reasoning = "", isCutShort, counts } = piece;
  return {
    ...exchange,
    requestId: requestId ?? exchange.requestId,
    text: exchange.text + text,
    reasoning: exchange.reasoning + reasoning,
    isCutShort: isCutShort ?? exchange.isCutShort,
    counts: counts ?? exchange.counts,
  };
}

/** The request for a question after the whole conversation. Exchanges without an answer are left out. */
export function requestOf(
  { model, question }: { readonly model: string; readonly question: string },
  exchanges: readonly Exchange[],
  { format, system, temperature, maxTokens, isStreamed }: PlaygroundSettings,
): SnippetRequest {
  // A vector is of one text.
  if (format === EMBEDDINGS) return { model, messages: [{ role: "user", content: question }] };
  const before = exchanges
    .filter(({ text, format: of }) => text !== "" && of !== EMBEDDINGS)
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
export type ShownRequest = {
  readonly kind: "sent" | "next" | "example";
  readonly request: SnippetRequest;
  readonly format: string;
};

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
  const { format } = settings;
  const sent = exchanges.at(-1);
  if (question !== "") return { kind: "next", format, request: requestOf({ model, question }, exchanges, settings) };
  if (sent !== undefined) return { kind: "sent", format: sent.format, request: sent.request };
  return { kind: "example", format, request: requestOf({ model, question: example }, [], settings) };
}

/** A question with its answer, and beside it the answer of the other model where two are compared. */
export type Turn = { readonly exchange: Exchange; readonly other: Exchange | null };

/** The exchanges of two models side by side. The second model was asked from some question on, with the first ones' answers. */
export function turnsOf(exchanges: readonly Exchange[], others: readonly Exchange[]): Turn[] {
  const before = exchanges.length - others.length;
  return exchanges.map((exchange, index) => ({ exchange, other: others[index - before] ?? null }));
}
