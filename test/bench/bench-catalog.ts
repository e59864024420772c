// The catalog of the measured gateway: the mock upstream by three protocols, and a model of each.

import { MESSAGES_MODEL_ID, MODEL_ID, RESPONSES_MODEL_ID } from "./chat-request.ts";
import { PRICE } from "./price.ts";

/** The catalog file for an upstream at this address. */
export function catalogYaml(upstream: URL): string {
  return `
upstreams:
  - id: bench
    kind: openai-compatible
    base_url: "${new URL("/v1", upstream).href}"
    api_key_env: BENCH_UPSTREAM_API_KEY
    allow_private_address: true
  - id: bench-messages
    kind: anthropic
    base_url: "${upstream.origin}"
    api_key_env: BENCH_UPSTREAM_API_KEY
    allow_private_address: true
  - id: bench-responses
    kind: openai-responses
    base_url: "${new URL("/v1", upstream).href}"
    api_key_env: BENCH_UPSTREAM_API_KEY
    allow_private_address: true
models:
  - id: ${MODEL_ID}
    name: Bench Large
    description: What the benchmark asks.
    input_modalities: [text]
    context_length: 131072
    max_output_tokens: 16384
    price: { input: "${PRICE.input}", output: "${PRICE.output}", cache_hit: "${PRICE.cacheHit}" }
    routes: [{ upstream: bench, model: bench-large-2026 }]
  - id: ${MESSAGES_MODEL_ID}
    name: Bench Messages
    description: What the benchmark asks as Messages.
    input_modalities: [text]
    context_length: 131072
    max_output_tokens: 16384
    price: { input: "${PRICE.input}", output: "${PRICE.output}", cache_hit: "${PRICE.cacheHit}", cache_write: "${PRICE.input}", cache_write_1h: "${PRICE.input}" }
    routes: [{ upstream: bench-messages, model: bench-messages-2026 }]
  - id: ${RESPONSES_MODEL_ID}
    name: Bench Responses
    description: What the benchmark asks as Responses.
    input_modalities: [text]
    context_length: 131072
    max_output_tokens: 16384
    price: { input: "${PRICE.input}", output: "${PRICE.output}", cache_hit: "${PRICE.cacheHit}" }
    routes: [{ upstream: bench-responses, model: bench-responses-2026 }]
`;
}
