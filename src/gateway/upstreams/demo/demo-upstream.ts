// An upstream inside the process: deterministic, visibly marked, and able to show every way in which a real one fails. It
// sees the very bytes a real one would, and answers in bytes.

import type {
  ChatUpstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamListener,
  UpstreamRequest,
} from "../chat-upstream.ts";
import { chunkJsons, completionJson, type DemoAnswer, outputChunks } from "./demo-answer.ts";
import { demoEmbeddings } from "./demo-embeddings.ts";
import { type DemoRequest, readDemoRequest } from "./demo-request.ts";
import { writtenWithin } from "./output-cap.ts";
import { PrefixMemory } from "./prefix-memory.ts";

export type DemoOptions = {
  /** Milliseconds between the events of a stream; 0: as fast as they can be taken. */
  readonly tokenIntervalMs?: number;
  /** How long `!slow` keeps a client waiting for the first byte. Its stream is ten times slower, too. */
  readonly slowMs?: number;
};

const DEFAULTS: Required<DemoOptions> = { tokenIntervalMs: 10, slowMs: 2_000 };
const SLOWER = 10;
/** The output limit of the largest demo model in tokens: the length where the request has no bound. */
const MAX_OUTPUT_TOKENS = 1_000_000;

/** Opens the demo upstream. Errors of `call`: `!500` throws, as a fault of our own would. */
export function createDemoUpstream(id: string, options: DemoOptions = {}): ChatUpstream {
  const settings = { ...DEFAULTS, ...options };
  const memory = new PrefixMemory();
  return {
    id,
    kind: "demo",
    outputCapField: "max_tokens",
    takesServiceTier: false,
    isAnthropic: false,
    call(request, listener) {
      if (request.endpoint === "embeddings") return callEmbeddings(request, listener);
      const read = readDemoRequest(request.model, request.body);
      if (read?.triggers.has("500") === true) throw new Error("the demo was asked for a fault of ours");
      const call = new DemoCall(listener);
      const failure = failureOf(read, request);
      if (read === null || failure !== null) {
        call.later(0, () => call.fail(failure ?? NO_JSON));
        return call;
      }
      const answer = answerOf(request, read, memory);
      const isSlow = read.triggers.has("slow");
      call.later(isSlow ? settings.slowMs : 0, () => {
        if (!request.stream) call.sendWhole(completionJson(answer), read.triggers.has("cut"));
        else call.sendStream(answer, settings.tokenIntervalMs * (isSlow ? SLOWER : 1));
      });
      return call;
    },
    close: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
}

function callEmbeddings({ model, body }: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
  const call = new DemoCall(listener);
  const answer = demoEmbeddings(model, body);
  call.later(0, () => (answer === null ? call.fail(NO_JSON) : call.sendWhole(answer, false)));
  return call;
}

const NO_JSON: UpstreamFailure = { kind: "refused", reason: "not JSON", message: "The body must be JSON" };

function failureOf(read: DemoRequest | null, { attempt }: UpstreamRequest): UpstreamFailure | null {
  if (read?.triggers.has("429")) return { kind: "unbilled", reason: "demo 429", retryAfterSeconds: 7 };
  if (read?.triggers.has("503x")) return { kind: "unbilled", reason: "demo 503" };
  if (read?.triggers.has("503") && attempt === 1) return { kind: "unbilled", reason: "demo 503 on the first attempt" };
  return null;
}

function answerOf({ requestId, model }: UpstreamRequest, read: DemoRequest, memory: PrefixMemory): DemoAnswer {
  const known = memory.recall(model, read.messages);
  const written = writtenWithin(read.reply, Math.min(read.maxTokens, MAX_OUTPUT_TOKENS));
  return {
    id: `chatcmpl-${requestId}`,
    model,
    created: Math.floor(Date.now() / 1_000),
    request: read,
    thoughts: written.thoughts,
    text: written.text,
    calls: written.calls,
    finishReason: written.isCut ? "length" : read.reply.calls.length === 0 ? "stop" : "tool_calls",
    usage: {
      promptTokens: sum(read.messageTokens) + read.toolTokens,
      cachedTokens: sum(read.messageTokens.slice(0, known)),
      completionTokens: written.tokens * read.choices,
      reasoningTokens: written.thoughts.length * read.choices,
    },
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** One answer on its way. Events come one by one, so that a slow or leaving client is noticed between them. */
class DemoCall implements UpstreamCall {
  readonly sent = true;
  readonly #listener: UpstreamListener;
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #isOver = false;
  #isPaused = false;
  #next: (() => void) | null = null;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  later(delayMs: number, step: () => void): void {
    const run = (): void => {
      if (this.#isOver) return;
      if (this.#isPaused) this.#next = step;
      else step();
    };
    this.#timer = delayMs === 0 ? setImmediate(run) : setTimeout(run, delayMs);
  }

  fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onFailure(failure);
  }

  sendWhole(json: string, isCut: boolean): void {
    this.#listener.onAnswer({ isEventStream: false, upstreamRequestId: null });
    if (this.#isOver) return;
    const bytes = Buffer.from(json);
    this.#listener.onData(isCut ? bytes.subarray(0, bytes.length >> 1) : bytes);
    if (isCut) this.fail(CUT);
    else this.#end();
  }

  sendStream(answer: DemoAnswer, intervalMs: number): void {
    this.#listener.onAnswer({ isEventStream: true, upstreamRequestId: null });
    const chunks = chunkJsons(answer);
    const isCut = answer.request.triggers.has("cut");
    const half = Math.ceil(outputChunks(answer) / 2) + answer.request.choices;
    let sent = 0;
    const step = (): void => {
      if (this.#isOver) return;
      if (isCut && sent === half) {
        this.fail(CUT);
        return;
      }
      const next = chunks.next();
      sent += 1;
      this.#listener.onData(Buffer.from(next.done === true ? "data: [DONE]\n\n" : `data: ${next.value}\n\n`));
      if (this.#isOver) return;
      if (next.done === true) this.#end();
      else this.later(intervalMs, step);
    };
    step();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.later(0, next);
  }

  letGo(): void {
    this.abort();
  }

  abort(): void {
    this.#isOver = true;
    if (this.#timer === null) return;
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnd();
  }
}

const CUT: UpstreamFailure = { kind: "perhaps_billed", reason: "the demo broke off half-way" };
