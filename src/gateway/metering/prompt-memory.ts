// Remembers for five minutes the length of prompts that upstreams have read, so that an estimate does not bill cached input as
// new. It keeps no prompt, only a keyed digest of its bytes, their number and its tokens.

import { createCipheriv, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ChatRequest } from "../request/read-request.ts";

/** Prompt caches of providers last at least as long. */
const REMEMBERED_MS = 5 * 60_000;
/** Providers cache no prompt that is shorter. */
const LEAST_TOKENS = 1_024;
/** A key's conversations with one model that run side by side, such as an agent and the agents it starts. */
const PROMPTS_OF_A_KEY = 4;
const MOST_KEYS = 5_000;
/** Members that providers put before the messages in the cached prompt, wherever they are in the body. */
const BEFORE_MESSAGES = ["tools", "functions", "response_format"] as const;

/** Where a prompt was read. Without an upstream: at any upstream of the model. */
export type PromptPlace = { readonly keyId: string; readonly model: string; readonly upstream: string | null };

type Prompt = {
  readonly upstream: string | null;
  readonly length: number;
  readonly digest: string;
  readonly tokens: number;
  readonly atMs: number;
};

export class PromptMemory {
  readonly #digestKey = randomBytes(16);
  readonly #prompts = new LRUCache<string, readonly Prompt[]>({ max: MOST_KEYS });
  /** Upstreams and models that have reported tokens read from a cache. The others may have none, whatever the catalog's price. */
  readonly #caching = new Set<string>();

  /** Notes that an upstream has read a part of a prompt for this model from its cache. */
  noteCacheHit({ model, upstream }: PromptPlace): void {
    this.#caching.add(`${upstream} ${model}`);
  }

  /** Remembers that an upstream has just read the prompt of this request as so many tokens. */
  remember({ keyId, model, upstream }: PromptPlace, request: PromptBytes, tokens: number, nowMs: number): void {
    const messages = messagesOf(request);
    if (tokens < LEAST_TOKENS || messages === null) return;
    const prompt = { upstream, length: messages.length, digest: this.#digest(request, messages), tokens, atMs: nowMs };
    const name = `${keyId} ${model}`;
    const others = this.#prompts.get(name) ?? [];
    const kept = others.filter((other) => nowMs - other.atMs <= REMEMBERED_MS && other.digest !== prompt.digest);
    this.#prompts.set(name, [prompt, ...kept].slice(0, PROMPTS_OF_A_KEY));
  }

  /**
   * The tokens of the longest remembered prompt that this request begins with, byte for byte, with the same tools before it;
   * 0 where there is none, or where the upstream has never reported that it has read anything from a cache.
   */
  cachedTokens({ keyId, model, upstream }: PromptPlace, request: PromptBytes, nowMs: number): number {
    const messages = messagesOf(request);
    if (messages === null) return 0;
    let most = 0;
    for (const prompt of this.#prompts.get(`${keyId} ${model}`) ?? []) {
      if (nowMs - prompt.atMs > REMEMBERED_MS || prompt.tokens <= most || prompt.length > messages.length) continue;
      if (upstream !== null && prompt.upstream !== upstream) continue;
      if (!this.#caching.has(`${prompt.upstream} ${model}`)) continue;
      const agrees = this.#digest(request, messages.subarray(0, prompt.length)) === prompt.digest;
      if (agrees) most = prompt.tokens;
    }
    return most;
  }

  /**
   * GMAC under a key of this process, over every byte: 400 KB take 30 µs, an eighth of what SHA-256 takes. With one nonce it
   * is a keyed universal hash. Its digests are safe to compare because none leaves the process.
   */
  #digest({ body, members }: PromptBytes, messages: Buffer): string {
    const gmac = createCipheriv("aes-128-gcm", this.#digestKey, NONCE);
    const lengths = Buffer.alloc(BEFORE_MESSAGES.length * LENGTH_BYTES);
    const parts = BEFORE_MESSAGES.map((name) => {
      const span = members.get(name);
      return span === undefined ? NOTHING : body.subarray(span.start, span.end);
    });
    for (const [at, part] of parts.entries()) lengths.writeUInt32LE(part.length, at * LENGTH_BYTES);
    gmac.setAAD(Buffer.concat([lengths, ...parts]));
    gmac.setAAD(messages);
    gmac.final();
    return gmac.getAuthTag().toString("latin1");
  }
}

/** The prompts that this process has seen read. */
export const promptMemory = new PromptMemory();

type PromptBytes = Pick<ChatRequest, "body" | "members">;

const NONCE = Buffer.alloc(12);
const NOTHING = Buffer.alloc(0);
const LENGTH_BYTES = 4;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;

/** The bytes of the messages from the bracket that opens their list to the end of the last one. */
function messagesOf({ body, members }: PromptBytes): Buffer | null {
  const span = members.get("messages");
  if (span === undefined || body[span.start] !== OPEN_BRACKET) return null;
  const list = body.subarray(span.start, span.end);
  const end = list.lastIndexOf(CLOSE_BRACE);
  return end < 0 ? null : list.subarray(0, end + 1);
}
