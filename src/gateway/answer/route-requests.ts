// One request in the protocol of each of its routes: the client's own bytes where an upstream speaks its protocol, the chat body, or
// the conversation written in the upstream's protocol.

import { type CatalogModel, LEAST_ACCEPTED } from "../../catalog/catalog-model.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { documentsOf } from "../admission/held-documents.ts";
import type { ChatCall } from "../chat.ts";
import { ownCacheKey } from "../conversation/cache-key.ts";
import { type ChatConversation, readChatConversation } from "../conversation/chat/read-chat-conversation.ts";
import type { ChatAnswerOptions } from "../conversation/chat/write-chat-answer.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { writeGeminiRequest } from "../conversation/gemini/write-gemini-request.ts";
import { lastOrigin } from "../conversation/last-origin.ts";
import { writeMessagesRequest } from "../conversation/messages/write-messages-request.ts";
import type { NativeRequest } from "../conversation/native-request.ts";
import { writeResponsesRequest } from "../conversation/responses/write-responses-request.ts";
import { protocolOf } from "../formats/formats.ts";
import type { ProtocolName } from "../formats/protocol-name.ts";
import type { CacheWrites } from "../request/cache-marks.ts";
import { customerTag } from "../request/customer-tag.ts";
import { problem } from "../request/field-rules.ts";
import type { ChatRequest } from "../request/read-request.ts";
import { upstreamBody } from "../request/upstream-body.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";
import type { RouteRequest } from "./route-request.ts";

type WrittenFor = { readonly route: OpenRoute; readonly outputBound: number };
/** `cacheWrites`: the prompt cache writes that are held for and have prices. */
type WriterFacts = WrittenFor & { readonly userTag: string; readonly cacheWrites: CacheWrites };
type Writer = (conversation: Conversation, model: CatalogModel, facts: WriterFacts) => Buffer;

/** What writes a conversation for upstreams of a protocol. */
const WRITERS: Readonly<Record<Exclude<ProtocolName, "chat">, Writer>> = {
  messages: (conversation, model, { route, ...facts }) =>
    writeMessagesRequest(conversation, {
      model: route.model,
      origin: route.upstream.id,
      accepts: model.accepts ?? LEAST_ACCEPTED,
      takesDocuments: true,
      takesServiceTier: route.upstream.takesServiceTier,
      ...facts,
    }),
  responses: (conversation, model, { route, outputBound, userTag }) =>
    writeResponsesRequest(conversation, {
      upstream: route.upstream.id,
      model: route.model,
      outputCap: outputBound,
      thinks: model.hiddenOutput,
      takesServiceTier: route.upstream.takesServiceTier,
      userTag,
    }),
  gemini: (conversation, model, { route, outputBound }) =>
    writeGeminiRequest(conversation, { origin: route.upstream.id, outputBound, thinks: model.hiddenOutput }),
};

export class RouteRequests {
  readonly #call: ChatCall;
  readonly #request: ChatRequest;
  readonly #model: CatalogModel;
  #chat: ChatConversation | null = null;
  /** What was written for a route, so that it need not be written for the check and for the call. */
  readonly #written = new Map<OpenRoute, { readonly outputBound: number; readonly body: Buffer }>();

  constructor(call: ChatCall, request: ChatRequest, model: CatalogModel) {
    this.#call = call;
    this.#request = request;
    this.#model = model;
  }

  /** What an answer of another protocol shows of a chat request. Errors: ValidationError. */
  chatOptions(): ChatAnswerOptions {
    const { conversation, hasFunctions } = this.#ofChat;
    return { model: this.#model.id, wantsUsage: this.#request.wantsUsage, tools: conversation.tools, hasFunctions };
  }

  /** The request for a route. Errors: ValidationError where the route cannot take it. */
  for(route: OpenRoute, outputBound: number): RouteRequest {
    const protocol = protocolOf(route.upstream.kind);
    if (protocol === "chat") {
      const { outputCapField, takesServiceTier } = route.upstream;
      const facts = {
        model: route.model,
        outputBound,
        outputCapField,
        takesServiceTier,
        cacheKey: this.#cacheKey,
        userTag: this.#userTag,
      };
      return { body: upstreamBody(this.#request, facts) };
    }
    const { client, headers = {} } = this.#call;
    if (!client?.native || client.protocol !== protocol) {
      return { body: this.#writtenFor(route, protocol, outputBound) };
    }
    this.#requirePricedWrites(client.native);
    const { contextLength } = this.#model;
    return client.native.write({
      origin: route.upstream.id,
      model: route.model,
      outputBound,
      accepts: this.#model.accepts ?? null,
      userTag: this.#userTag,
      takesServiceTier: route.upstream.takesServiceTier,
      knowsSafeguards: route.upstream.isAnthropic,
      headers,
      contextLength,
      canThink: canThink(this.#model),
    });
  }

  /** Why a route cannot take the request. Null: it can. */
  refusalBy(route: OpenRoute): ValidationError | null {
    const protocol = protocolOf(route.upstream.kind);
    const { client } = this.#call;
    const [document] = client === undefined ? [] : documentsOf(client.conversation);
    if (document !== undefined && (protocol === "chat" || !this.#model.inputModalities.includes("image"))) {
      const message = `must be no document, which ${this.#model.id} does not understand here`;
      return new ValidationError([problem(document.where, "modality", message)]);
    }
    if (protocol === "chat") return null;
    try {
      if (client?.native && client.protocol === protocol) this.#checkNative(client.native);
      else this.#writtenFor(route, protocol, this.#likelyBound);
      return null;
    } catch (error) {
      if (error instanceof ValidationError) return error;
      throw error;
    }
  }

  /**
   * A conversation stays at the upstream that answered it, while that is healthy: only there its thoughts can be read, and its prompt may
   * be cached. What the client's own bytes hold of a provider names no upstream, so any of its protocol may be that one.
   */
  inOrder(routes: readonly OpenRoute[], isHealthy: (route: OpenRoute) => boolean): readonly OpenRoute[] {
    if (routes.every(({ upstream }) => protocolOf(upstream.kind) === "chat")) return routes;
    const isOwn = this.#isOfConversation();
    if (isOwn === null) return routes;
    const own = new Set(routes.filter((route) => isOwn(route) && isHealthy(route)));
    return [...own, ...routes.filter((route) => !own.has(route))];
  }

  /** Whether a route may have answered the conversation before. Null: nothing shows that. */
  #isOfConversation(): ((route: OpenRoute) => boolean) | null {
    const { client } = this.#call;
    const origin = lastOrigin(client === undefined ? this.#ofChat.conversation : client.conversation);
    if (origin !== null) return ({ upstream }) => upstream.id === origin;
    if (client?.native?.isSealed !== true) return null;
    return ({ upstream }) => protocolOf(upstream.kind) === client.protocol;
  }

  /** The bound of most clients, who name one. */
  get #likelyBound(): number {
    const { maxTokens, maxCompletionTokens } = this.#request;
    const asked = Math.max(maxTokens ?? 0, maxCompletionTokens ?? 0);
    const { maxOutputTokens, contextLength } = this.#model;
    return Math.min(asked === 0 ? maxOutputTokens : asked, maxOutputTokens, contextLength);
  }

  #writtenFor(route: OpenRoute, protocol: keyof typeof WRITERS, outputBound: number): Buffer {
    const written = this.#written.get(route);
    if (written?.outputBound === outputBound) return written.body;
    const userTag = this.#userTag;
    const facts = { route, outputBound, userTag, cacheWrites: this.#heldWrites };
    const body = WRITERS[protocol](withOwnKey(this.#conversation, userTag), this.#model, facts);
    this.#written.set(route, { outputBound, body });
    return body;
  }

  get #userTag(): string {
    return customerTag(this.#call.key.accountId);
  }

  get #cacheKey(): string | null {
    const { cacheKey } = this.#request;
    return cacheKey === null ? null : ownCacheKey(this.#userTag, cacheKey);
  }

  /** Writes for minutes are always held for where they have a price, since providers write unasked. */
  get #heldWrites(): CacheWrites {
    const priced = pricedWrites(this.#model);
    return priced === "long" && this.#request.cacheWrites !== "long" ? "short" : priced;
  }

  get #ofChat(): ChatConversation {
    this.#chat ??= readChatConversation(this.#request);
    return this.#chat;
  }

  get #conversation(): Conversation {
    const { client } = this.#call;
    if (client !== undefined) return client.conversation;
    const { conversation, chatAlone } = this.#ofChat;
    if (chatAlone.length > 0) throw new ValidationError(chatAlone);
    return conversation;
  }

  #checkNative(native: NativeRequest): void {
    this.#requirePricedWrites(native);
    native.check({ accepts: this.#model.accepts ?? null, outputBound: this.#likelyBound });
  }

  #requirePricedWrites({ cacheWrites, cacheField }: { cacheWrites: CacheWrites; cacheField: string }): void {
    const priced = pricedWrites(this.#model);
    if (cacheWrites === "none" || priced === "long" || priced === cacheWrites) return;
    const message = `is not offered for ${this.#model.id}: its upstream charges for cache writes, which have no price here`;
    throw new ValidationError([problem(cacheField, "unpriced", message)]);
  }
}

/** The operator has set one of the two facts, or the first was learned from an answer. */
function canThink({ hiddenOutput, accepts }: CatalogModel): boolean {
  return hiddenOutput || (accepts !== undefined && accepts.thinking !== "none");
}

/** The cache writes that a model has prices for. */
function pricedWrites({ otherPrices }: CatalogModel): CacheWrites {
  if (otherPrices?.cacheWrite === undefined) return "none";
  return otherPrices.cacheWrite1h === undefined ? "short" : "long";
}

function withOwnKey(conversation: Conversation, tag: string): Conversation {
  const { cacheKey } = conversation;
  return cacheKey === null ? conversation : { ...conversation, cacheKey: ownCacheKey(tag, cacheKey) };
}
