// What the gateway's tests put around it: a ledger that remembers, a sink that records, a catalog of a few models.

import { setTimeout as delay } from "node:timers/promises";
import type { CatalogModel, CatalogSnapshot, UpstreamConfig } from "../../src/catalog/catalog-model.ts";
import { createGateway, type GatewayDeps } from "../../src/gateway/answer/answer-chat.ts";
import type { ChatAnswerHead, ChatOutcome, ChatSink, StreamEnding, WholeAnswer } from "../../src/gateway/chat.ts";
import type { GatewayEvent } from "../../src/gateway/answer/exchange.ts";
import { dataOf, splitEvents } from "../../src/gateway/stream/sse.ts";
import { createUpstreams } from "../../src/gateway/upstreams/upstreams.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { DomainError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { VerifiedKey } from "../../src/keys/verified-key.ts";
import type {
  Admission,
  AdmissionRequest,
  Extension,
  ExtensionRequest,
  Ledger,
  SettledUsage,
  Settlement,
} from "../../src/ledger/ledger.ts";
import { END_MARK, errorEvent, KEEP_ALIVE } from "../../src/transport/rest/chat/chat-events.ts";

/** What a service of models has besides the gateway, the catalog and the caller: a key that may ask every model. */
export const UNLIMITED = {
  allowedModelsOf: () => null,
  ownKey: () => Promise.reject(new Error("not asked")),
};
export const KEY: VerifiedKey = { keyId: uuidv7(), accountId: uuidv7(), rateLimit: 60 };
export const RATE = { limit: 60, remaining: 59, resetSeconds: 60 };

const RUPIAH = 1_000_000n;

/** A text model of an upstream, Rp 5 000 in and Rp 15 000 out per 1M tokens. */
export function modelOf(id: string, overrides: Partial<CatalogModel> = {}): CatalogModel {
  const [upstream = "", name = ""] = id.split("/");
  return {
    id,
    name: id,
    description: "",
    badge: null,
    inputModalities: ["text"],
    contextLength: 131_072,
    maxOutputTokens: 16_384,
    mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
    kind: "chat",
    hiddenOutput: false,
    inputPrice: 5_000n * RUPIAH,
    outputPrice: 15_000n * RUPIAH,
    cacheHitPrice: 950n * RUPIAH,
    routes: [{ upstream, model: name }],
    createdAt: new Date(0),
    ...overrides,
  };
}

export function upstreamOf(id: string, baseUrl: string, overrides: Partial<UpstreamConfig> = {}): UpstreamConfig {
  return {
    id,
    kind: "openai-compatible",
    baseUrl,
    apiKeyEnv: null,
    allowPrivateAddress: true,
    connectTimeoutMs: 1_000,
    firstByteTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
    ...overrides,
  };
}

export const DEMO_UPSTREAM: UpstreamConfig = upstreamOf("demo", "demo:", { kind: "demo" });
export const DEMO_MODELS: readonly CatalogModel[] = [
  modelOf("demo/echo", { inputPrice: 0n, outputPrice: 0n, cacheHitPrice: null }),
  modelOf("demo/small", { contextLength: 272_000 }),
  modelOf("demo/vision", { inputModalities: ["text", "image"] }),
  modelOf("demo/thinking", { hiddenOutput: true }),
];

/** A ledger in memory that grants the given amounts and records every call. */
export class FakeLedger implements Ledger {
  readonly admissions: AdmissionRequest[] = [];
  readonly extensions: ExtensionRequest[] = [];
  readonly settlements: Settlement[] = [];
  readonly open = new Set<string>();
  admitWith: (request: AdmissionRequest) => Admission = ({ amount }) => ({ outcome: "granted", amount, rate: RATE });
  extendWith: (request: ExtensionRequest) => Promise<Extension> = ({ amount }) =>
    Promise.resolve({ outcome: "granted", amount });
  /** How a settlement comes out that another process has recovered before. */
  lateAs: SettledUsage["late"];
  onSettle: (settlement: Settlement) => Promise<void> = () => Promise.resolve();

  admit(request: AdmissionRequest): Promise<Admission> {
    this.admissions.push(request);
    const admission = this.admitWith(request);
    if (admission.outcome === "granted") this.open.add(request.requestId);
    return Promise.resolve(admission);
  }

  extend(request: ExtensionRequest): Promise<Extension> {
    this.extensions.push(request);
    return this.extendWith(request);
  }

  async settle(settlement: Settlement) {
    this.settlements.push(settlement);
    await this.onSettle(settlement);
    this.open.delete(settlement.requestId);
    const settled = { cost: settlement.cost, charge: settlement.cost };
    return this.lateAs === undefined ? settled : { ...settled, late: this.lateAs };
  }

  /** The only settlement there was. */
  get settlement(): Settlement {
    const [settlement, ...others] = this.settlements;
    if (settlement === undefined || others.length > 0) throw new Error(`${this.settlements.length} settlements`);
    return settlement;
  }
}

/** A client of REST: keeps what it is sent, can be slow, can leave. */
export class FakeSink implements ChatSink {
  head: (ChatAnswerHead & { readonly streamed: boolean; readonly costIdr: string | null }) | null = null;
  ended = false;
  readonly chunks: Buffer[] = [];
  onWrite: (bytes: Buffer) => boolean = () => true;
  #drained: (() => void)[] = [];
  #gone: (() => void)[] = [];
  #isGone = false;

  answer(head: ChatAnswerHead, { json, costIdr }: WholeAnswer): void {
    this.#start({ ...head, streamed: false, costIdr });
    this.#write(json);
    this.ended = true;
  }
  begin(head: ChatAnswerHead): void {
    this.#start({ ...head, streamed: true, costIdr: null });
  }
  pass(bytes: Buffer): boolean {
    return this.#write(bytes);
  }
  keepAlive(): void {
    this.#write(KEEP_ALIVE);
  }
  end({ passed }: StreamEnding): void {
    this.#write(Buffer.concat([passed, END_MARK]));
    this.ended = true;
  }
  fail(error: DomainError): void {
    this.#write(errorEvent(error));
    this.ended = true;
  }
  onDrained(callback: () => void): void {
    this.#drained.push(callback);
  }
  onGone(callback: () => void): void {
    if (this.#isGone) callback();
    else this.#gone.push(callback);
  }

  #start(head: NonNullable<FakeSink["head"]>): void {
    if (this.head !== null) throw new Error("started twice");
    this.head = head;
  }
  #write(bytes: Buffer): boolean {
    if (this.head === null) throw new Error("written before the start");
    if (this.ended) throw new Error("written after the end");
    this.chunks.push(Buffer.from(bytes));
    return this.onWrite(bytes);
  }

  drain(): void {
    for (const callback of this.#drained.splice(0)) callback();
  }
  leave(): void {
    this.#isGone = true;
    for (const callback of this.#gone.splice(0)) callback();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
  get json(): Record<string, unknown> {
    return JSON.parse(this.bytes.toString("utf8")) as Record<string, unknown>;
  }
  /** The data of the events so far. */
  get events(): string[] {
    return splitEvents(this.bytes)
      .map((event) => dataOf(event))
      .filter((data) => data !== null);
  }
  /** The text of all deltas so far. */
  get text(): string {
    return this.events
      .filter((data) => data !== "[DONE]")
      .map(
        (data) =>
          (JSON.parse(data) as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta?.content ?? "",
      )
      .join("");
  }
}

export type Bench = ReturnType<typeof openBench>;

/** A gateway with everything around it faked but the upstreams. */
export function openBench(
  setup: { models?: readonly CatalogModel[]; upstreams?: readonly UpstreamConfig[]; deps?: Partial<GatewayDeps> } = {},
) {
  const ledger = new FakeLedger();
  const remembered: number[] = [];
  const events: GatewayEvent[] = [];
  const upstreams = createUpstreams({
    credential: (name) => (name.startsWith("UNSET_") ? undefined : "sk-upstream-secret"),
    demo: { tokenIntervalMs: 0, slowMs: 50 },
  });
  const snapshot: CatalogSnapshot = {
    takenAtMs: 0,
    models: new Map((setup.models ?? DEMO_MODELS).map((model) => [model.id, model])),
    upstreams: new Map((setup.upstreams ?? [DEMO_UPSTREAM]).map((upstream) => [upstream.id, upstream])),
  };
  const gateway = createGateway({
    keys: {
      refuseWhileLimited: () => undefined,
      rememberLimited: (_key, ms) => remembered.push(ms),
      takeSlot: ({ rateLimit: limit }) => Promise.resolve({ limit, remaining: limit, resetSeconds: 0 }),
    },
    ledger,
    catalog: { snapshot: () => Promise.resolve(snapshot) },
    upstreams,
    clock: systemClock,
    topUpUrl: () => "https://saldo.example/top-up",
    report: (event) => events.push(event),
    ...setup.deps,
  });
  return {
    gateway,
    ledger,
    upstreams,
    remembered,
    events,
    /** Sends a body and waits for the answer; an error is returned, not thrown. */
    async send<Sink extends ChatSink = FakeSink>(
      body: unknown,
      sink: Sink = new FakeSink() as ChatSink as Sink,
      requestId = uuidv7(),
    ): Promise<{ sink: Sink; outcome: ChatOutcome | null; error: unknown; requestId: string }> {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
      const call = { requestId, receivedAtMs: Date.now(), key: KEY, body: bytes };
      try {
        const outcome = await gateway.answerChat(call, sink);
        return { sink, outcome, error: null, requestId };
      } catch (error) {
        return { sink, outcome: null, error, requestId };
      }
    },
  };
}

/** A chat body with one user message. */
export function chat(model: string, content: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { model, messages: [{ role: "user", content }], ...more };
}

/** A chunk of the scripted upstream as clients see it: with our id and the catalog's model. */
export function shown(data: string, requestId: string, model = "local/m"): string {
  return data
    .replace('"id":"chatcmpl-upstream"', `"id":"chatcmpl-${requestId}"`)
    .replace('"model":"upstream-model-2026"', `"model":"${model}"`);
}

/** Waits until something is so, at most two seconds. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (isSo()) return;
    await delay(5);
  }
  throw new Error("it did not come to be");
}
