// Asks the gateway for an answer of a few tokens in an agent's own protocol, before the agent is pointed at it. The answer is billed.

import type { Protocol } from "./agent.ts";
import { GatewayAway, readText, send } from "./gateway.ts";
import { printable } from "./printable.ts";

const MOST_TOKENS = 16;
const MOST_CHARACTERS = 300;
const WITHIN_MS = 60_000;
const WORD = "Hello";

type Probe = {
  /** Below the gateway's address. */
  readonly path: (model: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (model: string) => object;
  readonly isAnswer: (answer: Readonly<Record<string, unknown>>) => boolean;
};

const PROBES: Readonly<Record<Protocol, Probe>> = {
  messages: {
    path: () => "/v1/messages",
    headers: { "anthropic-version": "2023-06-01" },
    body: (model) => ({ model, max_tokens: MOST_TOKENS, messages: [{ role: "user", content: WORD }] }),
    isAnswer: ({ type }) => type === "message",
  },
  responses: {
    path: () => "/v1/responses",
    headers: {},
    body: (model) => ({ model, max_output_tokens: MOST_TOKENS, input: WORD, store: false }),
    isAnswer: ({ object }) => object === "response",
  },
  gemini: {
    path: (model) => `/v1beta/models/${model}:generateContent`,
    headers: {},
    body: () => ({
      contents: [{ role: "user", parts: [{ text: WORD }] }],
      generationConfig: { maxOutputTokens: MOST_TOKENS },
    }),
    isAnswer: ({ candidates }) => Array.isArray(candidates),
  },
};

/** The gateway, key and model that an agent would use. */
export type Asked = { readonly apiUrl: string; readonly key: string; readonly model: string };

/** Why an agent of this protocol would get no answer; null: it would, or what is in the way will pass. */
export async function problemOf(protocol: Protocol, { apiUrl, key, model }: Asked): Promise<string | null> {
  const { path, headers, body, isAnswer } = PROBES[protocol];
  const url = apiUrl.replace(/\/v1$/, "") + path(model);
  try {
    const response = await send(url, key, { body: body(model), headers, withinMs: WITHIN_MS });
    const { status } = response;
    const answer = parsed(await readText(response));
    if (status === 200) return isAnswer(answer) ? null : `${url} did not answer in the form that it needs.`;
    if (status === 404 || status === 405 || status === 501) {
      return `it needs ${new URL(url).pathname}, which the gateway does not serve.`;
    }
    // The balance, the rate limit and a busy model are no reason to leave the settings out.
    if (status === 402 || status === 429 || status >= 500) return null;
    return `${url} answered with status ${status}: ${messageIn(answer)}`;
  } catch (error) {
    if (error instanceof GatewayAway) return error.message;
    throw error;
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The message of an error, nested or not. */
function messageIn(answer: Readonly<Record<string, unknown>>): string {
  const message: unknown = Object(answer["error"]).message ?? answer["message"];
  return typeof message === "string" ? printable(message.slice(0, MOST_CHARACTERS)) : "no reason is given.";
}
