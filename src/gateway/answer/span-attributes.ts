// What the spans of a request have, by the conventions of OpenTelemetry for generative AI. Those are "development": their names are
// here and nowhere else. Of an answer they have counts and ids; what was asked and answered is in no attribute.

import { inputTokensOf, type TokenCounts } from "../../billing/cost.ts";
import type { UpstreamKind } from "../../catalog/catalog-model.ts";
import type { TraceAttributes } from "../../kernel/tracing.ts";

const PROVIDERS: Readonly<Record<UpstreamKind, string>> = {
  "openai-compatible": "openai",
  "openai-responses": "openai",
  anthropic: "anthropic",
  gemini: "gcp.gemini",
  demo: "saldo.demo",
};

/** What is known of an attempt when it begins. */
export type BegunAttempt = {
  readonly endpoint: string;
  readonly stream: boolean;
  /** The bound on the output that is sent. */
  readonly outputBound: number;
  /** 1 for the first attempt of a request. */
  readonly number: number;
  readonly route: { readonly model: string; readonly upstream: { readonly id: string; readonly kind: UpstreamKind } };
};

/** The name of the span of an attempt, and its attributes. */
export function attemptFacts({ endpoint, stream, outputBound, number, route: { upstream, model } }: BegunAttempt): {
  readonly name: string;
  readonly attributes: TraceAttributes;
} {
  return {
    name: `${endpoint} ${model}`,
    attributes: {
      "gen_ai.operation.name": endpoint,
      "gen_ai.provider.name": PROVIDERS[upstream.kind],
      "gen_ai.request.model": model,
      "gen_ai.request.stream": stream,
      "gen_ai.request.max_tokens": outputBound,
      "saldo.upstream": upstream.id,
      "saldo.attempt": number,
    },
  };
}

/** The counts that a request is billed by. */
export function usageAttributes(counts: TokenCounts): TraceAttributes {
  return {
    "gen_ai.usage.input_tokens": inputTokensOf(counts),
    "gen_ai.usage.output_tokens": counts.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": counts.inputTokensCached,
  };
}

/** When the first part of an answer came, from the beginning of its request on. */
export function firstChunkAttributes(firstByteMs: number | null): TraceAttributes {
  return firstByteMs === null ? {} : { "gen_ai.response.time_to_first_chunk": firstByteMs / 1_000 };
}
