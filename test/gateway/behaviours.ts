// What upstreams do, one entry per behaviour: the script, what a client sees of it, how often the upstream was called, and
// how it is billed. Played through the official client by test/app/clients/upstream-behaviours.test.ts.

import type { ServerResponse } from "node:http";
import { USAGE } from "./scripted-upstream.ts";
import type { Script } from "./scripted-upstream.ts";

/** What a script knows of the play it is in. */
export type Stage = {
  /** Once the client has read the whole text, `Halo dunia`. */
  readonly read: Promise<void>;
  /** Once the client has left and the gateway knows. */
  readonly left: Promise<void>;
  /** Makes the client leave. */
  readonly leave: () => void;
  /** Which call of this request it is: 2 is a retry. */
  readonly call: number;
};

export type Act = (response: ServerResponse, stage: Stage) => void | Promise<void>;

/** What the client is given. */
export type Sees =
  /** A complete answer. */
  | { readonly text: string }
  /** A stream that breaks off behind this text, with an error event of this code. */
  | { readonly text: string; readonly breaksWith: string }
  /** An HTTP error. */
  | { readonly status: number }
  /** Nothing: it has left. */
  | "nothing";

export type Behaviour = {
  readonly name: string;
  readonly act: Act;
  readonly sees: Sees;
  /** How often the upstream is called. Absent: once. */
  readonly calls?: number;
  readonly billed: Billed;
};

/** The record of a request: its basis and its tokens, or bounds of the output where that is estimated. */
export type Billed = {
  readonly basis: "exact" | "drained" | "estimated" | "free";
  readonly clamped?: boolean;
  readonly input?: number;
  readonly cached?: number;
  readonly output: number | { readonly from: number; readonly to: number };
};

/** The output bound that every request of the table asks for. */
export const MAX_TOKENS = 100;

export const EXACT: Billed = { basis: "exact", input: 7, cached: 4, output: 3 };
export const DRAINED: Billed = { ...EXACT, basis: "drained" };
export const FREE: Billed = { basis: "free", input: 0, cached: 0, output: 0 };
/** An estimate of `Halo` or `Halo dunia`. */
export const ESTIMATED: Billed = { basis: "estimated", cached: 0, output: { from: 1, to: 6 } };
export const ONLY_INPUT: Billed = { basis: "estimated", cached: 0, output: 0 };
/** The upstream reported impossible counts. */
export const clamped = (billed: Billed): Billed => ({ ...billed, clamped: true });

/** Usage as upstreams write it in honest and in odd ways, and how an answer with it is billed. */
export const usages: readonly { readonly name: string; readonly usage: unknown; readonly billed: Billed }[] = [
  { name: "usage in OpenAI's shape", usage: USAGE, billed: EXACT },
  { name: "no usage", usage: undefined, billed: ESTIMATED },
  { name: "usage null", usage: null, billed: ESTIMATED },
  { name: "usage that is a text", usage: "14 tokens", billed: ESTIMATED },
  { name: "usage without counts", usage: {}, billed: ESTIMATED },
  { name: "usage of zero", usage: { prompt_tokens: 0, completion_tokens: 0 }, billed: ESTIMATED },
  {
    name: "usage in Anthropic's words",
    usage: { input_tokens: 11, output_tokens: 3, input_tokens_details: { cached_tokens: 4 } },
    billed: EXACT,
  },
  {
    name: "cache hits where DeepSeek puts them",
    usage: { prompt_tokens: 11, completion_tokens: 3, prompt_cache_hit_tokens: 4 },
    billed: EXACT,
  },
  {
    name: "reasoning beside the completion, as xAI counts it",
    usage: {
      prompt_tokens: 11,
      completion_tokens: 3,
      total_tokens: 24,
      completion_tokens_details: { reasoning_tokens: 10 },
    },
    billed: { basis: "exact", input: 11, cached: 0, output: 13 },
  },
  {
    name: "counts in fractions",
    usage: { prompt_tokens: 10.2, completion_tokens: 2.5 },
    billed: clamped({ basis: "exact", input: 11, cached: 0, output: 3 }),
  },
  {
    name: "counts as texts",
    usage: { prompt_tokens: "11", completion_tokens: "3" },
    billed: clamped({ basis: "exact", input: 11, cached: 0, output: 3 }),
  },
  {
    name: "more cached than there is input",
    usage: { prompt_tokens: 11, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 99 } },
    billed: clamped({ basis: "exact", input: 0, cached: 11, output: 3 }),
  },
  { name: "negative counts", usage: { prompt_tokens: 11, completion_tokens: -3 }, billed: clamped(ESTIMATED) },
  {
    name: "an absurd output",
    usage: { prompt_tokens: 11, completion_tokens: 1e15 },
    billed: clamped({ ...ESTIMATED, input: 11 }),
  },
];

const HTML = "<!doctype html><html><body>Sign in to the network</body></html>";
const answer =
  (status: number, body: string, headers: Record<string, string> = {}): Act =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
const error = (code: number): string => JSON.stringify({ error: { message: "no", code } });
/** The first call fails in this way, the second is answered. */
export const failsOnce =
  (failure: Act, otherwise: Act): Act =>
  (response, stage) =>
    (stage.call === 1 ? failure : otherwise)(response, stage);

const BUSY_TWICE = { sees: { status: 503 }, calls: 2, billed: FREE } as const;
const BUSY_AT_ONCE = { sees: { status: 503 }, billed: FREE } as const;
const REFUSED = { sees: { status: 400 }, billed: FREE } as const;

/** What can go wrong before a client has had anything, of a stream as of a whole answer. */
export const failures: readonly Behaviour[] = [
  ...[401, 403, 404, 429, 500, 502, 503].map((status) => ({
    name: `status ${status}`,
    act: answer(status, error(status)),
    ...BUSY_TWICE,
  })),
  { name: "a redirect", act: answer(302, "", { location: "http://169.254.169.254/" }), ...BUSY_TWICE },
  ...[400, 413, 422].map((status) => ({ name: `status ${status}`, act: answer(status, error(status)), ...REFUSED })),
  { name: "an HTML page with status 200", act: answer(200, HTML, { "content-type": "text/html" }), ...BUSY_TWICE },
  { name: "an HTML page with status 502", act: answer(502, HTML, { "content-type": "text/html" }), ...BUSY_TWICE },
  { name: "an error with status 200", act: answer(200, error(500)), ...BUSY_TWICE },
  { name: "a refusal with status 200", act: answer(200, error(400)), ...REFUSED },
  { name: "an empty answer", act: answer(200, ""), ...BUSY_AT_ONCE },
  { name: "an answer that is none", act: answer(200, "{}"), ...BUSY_AT_ONCE },
  { name: "a reset before the headers", act: (response) => void response.socket?.destroy(), ...BUSY_AT_ONCE },
  { name: "silence instead of headers", act: () => undefined, ...BUSY_AT_ONCE },
  {
    name: "an answer cut in its length",
    act: (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
      response.write('{"id":"x","choices":[{', () => response.socket?.destroy());
    },
    ...BUSY_AT_ONCE,
  },
  {
    name: "a client that leaves before an upstream that fails",
    act: async (response, { leave, left }) => {
      leave();
      await left;
      response.writeHead(503).end("{}");
    },
    sees: "nothing",
    billed: FREE,
  },
];

/** Makes the script of one behaviour. */
export function scriptOf(act: Act, stage: Omit<Stage, "call">): Script {
  return (response, _received, call) => act(response, { ...stage, call });
}
