// The models of the demo. They are answered inside the process by the demo upstream and really billed. Written as values, not as
// a file: a start then needs no YAML.

import type { UpstreamConfig } from "../../../catalog/catalog-model.ts";
import { DEFAULT_MEDIA_TOKENS, type FileModel } from "../../../catalog/model-file.ts";
import { DEFAULT_TIMEOUTS_MS } from "../../../catalog/upstream-file.ts";

const DEMO = "demo";
/** Micro-rupiah per 1M tokens. */
const rupiah = (whole: number): bigint => BigInt(whole) * 1_000_000n;

/** The upstream of the demo's models. */
export const demoUpstreamConfig: UpstreamConfig = {
  id: DEMO,
  kind: "demo",
  baseUrl: "demo:",
  apiKeyEnv: null,
  allowPrivateAddress: false,
  connectTimeoutMs: DEFAULT_TIMEOUTS_MS.connect,
  firstByteTimeoutMs: DEFAULT_TIMEOUTS_MS.firstByte,
  idleTimeoutMs: DEFAULT_TIMEOUTS_MS.idle,
};

const chatModel = {
  kind: "chat",
  badge: null,
  inputModalities: ["text"],
  mediaTokens: DEFAULT_MEDIA_TOKENS,
  hiddenOutput: false,
} as const;

/** The models of the demo. Cached input costs 10, 19 and 25 % of other input. */
export const demoModels: readonly FileModel[] = [
  {
    ...chatModel,
    id: "demo/echo",
    name: "Demo Echo",
    description: "Repeats the last message. Free of charge.",
    contextLength: 131_072,
    maxOutputTokens: 16_384,
    inputPrice: 0n,
    outputPrice: 0n,
    cacheHitPrice: null,
    routes: [{ upstream: DEMO, model: "echo" }],
  },
  {
    ...chatModel,
    id: "demo/small",
    name: "Demo Small",
    description: "Answers in two sentences. Cached input costs a tenth.",
    contextLength: 272_000,
    maxOutputTokens: 32_768,
    inputPrice: rupiah(4_000),
    outputPrice: rupiah(16_000),
    cacheHitPrice: rupiah(400),
    routes: [{ upstream: DEMO, model: "small" }],
  },
  {
    ...chatModel,
    id: "demo/large",
    name: "Demo Large",
    description: "Reads a whole library and answers in two sentences.",
    badge: "-20%",
    contextLength: 1_050_000,
    maxOutputTokens: 131_072,
    inputPrice: rupiah(20_000),
    outputPrice: rupiah(80_000),
    cacheHitPrice: rupiah(3_800),
    routes: [{ upstream: DEMO, model: "large" }],
  },
  {
    ...chatModel,
    id: "demo/vision",
    name: "Demo Vision",
    description: "Looks at pictures, too.",
    inputModalities: ["text", "image"],
    contextLength: 131_072,
    maxOutputTokens: 16_384,
    inputPrice: rupiah(8_000),
    outputPrice: rupiah(32_000),
    cacheHitPrice: rupiah(2_000),
    routes: [{ upstream: DEMO, model: "vision" }],
  },
  {
    ...chatModel,
    id: "demo/thinking",
    name: "Demo Thinking",
    description:
      "Thinks before it answers, as long as reasoning_effort asks for. Thoughts are billed like other output.",
    contextLength: 131_072,
    maxOutputTokens: 16_384,
    hiddenOutput: true,
    inputPrice: rupiah(8_000),
    outputPrice: rupiah(32_000),
    cacheHitPrice: rupiah(800),
    routes: [{ upstream: DEMO, model: "thinking" }],
  },
  {
    ...chatModel,
    id: "demo/embed",
    kind: "embeddings",
    name: "Demo Embed",
    description: "Turns texts into short vectors. Texts with words in common have similar vectors.",
    contextLength: 8_192,
    maxOutputTokens: 0,
    inputPrice: rupiah(300),
    outputPrice: 0n,
    cacheHitPrice: null,
    routes: [{ upstream: DEMO, model: "embed" }],
  },
];
