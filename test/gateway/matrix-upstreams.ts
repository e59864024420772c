// An upstream of each kind that knows what it would charge, for the tests that let every protocol meet every kind of upstream.

import type { CatalogModel, UpstreamKind } from "../../src/catalog/catalog-model.ts";
import { startFakeAnthropic, type TrueUsage as AnthropicUsage } from "./fakes/anthropic.ts";
import { startFakeChat } from "./fakes/chat.ts";
import { startFakeGemini } from "./fakes/gemini.ts";
import { startFakeResponses } from "./fakes/responses.ts";
import { type Bench, modelOf, openBench, upstreamOf } from "./support.ts";

/** Counts that do not overlap. */
export type Truth = Readonly<Record<"plain" | "cached" | "written" | "written1h" | "output" | "reasoning", number>>;

type Started = {
  readonly baseUrl: string;
  /** What the last call would be charged for. */
  readonly truth: () => Truth | undefined;
  /** The last request, as JSON. */
  readonly asked: () => string;
  readonly stop: () => Promise<void>;
};

export type MatrixUpstream = {
  readonly kind: UpstreamKind;
  readonly protocol: string;
  /** What the next request has of an answer with thoughts and a call, whose result is "done". */
  readonly sealed: RegExp;
  /** The least that is cached of a prompt of 6 000 characters. */
  readonly cached: number;
  /** The word that lets a stream fail behind output. */
  readonly failsLate: string;
  /** The word that lets the model refuse behind its output. */
  readonly refuses: string;
  /** Whether all output is seen where the request asks for no thoughts. */
  readonly showsOutput: boolean;
  readonly start: () => Promise<Started>;
};

export const MATRIX_UPSTREAMS: readonly MatrixUpstream[] = [
  {
    kind: "openai-compatible",
    protocol: "chat",
    sealed: /"content":"done"/,
    cached: 500,
    failsLate: "!error!late",
    refuses: "!refuse",
    showsOutput: true,
    async start() {
      const fake = await startFakeChat();
      return {
        baseUrl: fake.baseUrl,
        truth: () => fake.truths.slice(-1).map((truth) => disjoint({ ...truth, written: 0 }))[0],
        asked: () => JSON.stringify(fake.requests.at(-1)),
        stop: () => fake.stop(),
      };
    },
  },
  {
    kind: "anthropic",
    protocol: "messages",
    sealed: /"EqQB\d+[^"]+"/,
    cached: 500,
    failsLate: "!error!late",
    refuses: "!refuse",
    showsOutput: true,
    async start() {
      const fake = await startFakeAnthropic({ thinking: "adaptive" });
      const truthOf = ({ input, read, written5m, written1h, output, thinking }: AnthropicUsage): Truth => {
        return { plain: input, cached: read, written: written5m, written1h, output, reasoning: thinking };
      };
      return {
        baseUrl: fake.baseUrl,
        truth: () => fake.truths.slice(-1).map(truthOf)[0],
        asked: () => JSON.stringify(fake.requests.at(-1)),
        stop: () => fake.stop(),
      };
    },
  },
  {
    kind: "openai-responses",
    protocol: "responses",
    sealed: /"gAAAAAB\d+[^"]+"/,
    cached: 1,
    failsLate: "!failed=server_error!late",
    refuses: "!filter",
    showsOutput: false,
    async start() {
      const fake = await startFakeResponses({ writesCache: true });
      return {
        baseUrl: fake.baseUrl,
        truth: () => fake.truths.slice(-1).map(disjoint)[0],
        asked: () => JSON.stringify(fake.requests.at(-1)),
        stop: () => fake.stop(),
      };
    },
  },
  {
    kind: "gemini",
    protocol: "gemini",
    sealed: /"thoughtSignature\\?":\\?"U2lnbmF0dXJl/,
    cached: 500,
    failsLate: "!error!late",
    refuses: "!refuse",
    showsOutput: false,
    async start() {
      const fake = await startFakeGemini();
      return {
        baseUrl: fake.baseUrl,
        truth: () =>
          fake.truths
            .slice(-1)
            .map(({ answer, thoughts, ...input }) =>
              disjoint({ ...input, written: 0, output: answer + thoughts, reasoning: thoughts }),
            )[0],
        asked: () => JSON.stringify(fake.requests.at(-1)),
        stop: () => fake.stop(),
      };
    },
  },
];

type Inclusive = Readonly<Record<"input" | "cached" | "written" | "output" | "reasoning", number>>;

function disjoint({ input, cached, written, output, reasoning }: Inclusive): Truth {
  return { plain: input - cached - written, cached, written, written1h: 0, output, reasoning };
}

const PRICES = { plain: 3_000n, cached: 300n, written: 3_750n, written1h: 6_000n, output: 15_000n };
const RUPIAH = 1_000_000n;
const MILLION = 1_000_000n;
/** No process listens there. */
const NOWHERE = "http://127.0.0.1:9/v1";

/** What a request must cost, in micro-rupiah: each count at its price, rounded once, upwards. */
export function trueCost(truth: Truth): bigint {
  const names = ["plain", "cached", "written", "written1h", "output"] as const;
  const total = names.reduce((sum, name) => sum + BigInt(truth[name]) * PRICES[name] * RUPIAH, 0n);
  return (total + MILLION - 1n) / MILLION;
}

/** The model that an upstream of a kind has. */
export function matrixModel(kind: UpstreamKind, more: Partial<CatalogModel> = {}): CatalogModel {
  return modelOf(`acme/${kind}`, {
    hiddenOutput: true,
    inputModalities: ["text", "image"],
    accepts: { thinking: "adaptive", sampling: false, prefill: false, cacheMarkers: true },
    inputPrice: PRICES.plain * RUPIAH,
    outputPrice: PRICES.output * RUPIAH,
    cacheHitPrice: PRICES.cached * RUPIAH,
    otherPrices: { cacheWrite: PRICES.written * RUPIAH, cacheWrite1h: PRICES.written1h * RUPIAH },
    routes: [{ upstream: kind, model: "m" }],
    ...more,
  });
}

/** All of them, started. */
export async function startMatrix() {
  const started = new Map<UpstreamKind, Started>();
  const opened: Bench[] = [];
  for (const { kind, start } of MATRIX_UPSTREAMS) started.set(kind, await start());
  return {
    truthOf: (kind: UpstreamKind) => started.get(kind)?.truth(),
    askedOf: (kind: UpstreamKind) => started.get(kind)?.asked() ?? "",
    /** A gateway with the upstreams, and a dead one of each kind. */
    open(model: CatalogModel): Bench {
      const upstreams = [...started].flatMap(([kind, { baseUrl }]) => [
        upstreamOf(kind, baseUrl, { kind }),
        upstreamOf(`dead-${kind}`, NOWHERE, { kind }),
      ]);
      const bench = openBench({ models: [model], upstreams });
      opened.push(bench);
      return bench;
    },
    async stop(): Promise<void> {
      await Promise.all(opened.map(({ upstreams }) => upstreams.close()));
      await Promise.all([...started.values()].map(({ stop }) => stop()));
    },
  };
}
