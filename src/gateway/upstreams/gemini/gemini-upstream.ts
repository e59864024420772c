// An upstream with Google's Gemini API, and embeddings by its compatible path.

import type { UpstreamConfig } from "../../../catalog/catalog-model.ts";
import { isObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { ChatUpstream, UpstreamFailure, UpstreamRequest } from "../chat-upstream.ts";
import { createHttpUpstream, type HttpUpstreamOptions, type UpstreamWire } from "../http/http-upstream.ts";
import { readErrorWords } from "../http/refusals.ts";

/** Opens an upstream. Its base URL ends in the version, such as `/v1beta`. */
export function createGeminiUpstream(config: UpstreamConfig, options: HttpUpstreamOptions): ChatUpstream {
  const http = createHttpUpstream(config, WIRE, options);
  const { apiKey } = options;
  return {
    ...http,
    call(request, listener) {
      const headers = [...(request.headers ?? []), ...credentialOf(request, apiKey)];
      return http.call({ ...request, headers }, listener);
    },
  };
}

const BAD_REQUEST = 400;

const WIRE: UpstreamWire = {
  path: pathOf,
  // The credential depends on the path.
  headers: () => [],
  requestIdHeader: "x-request-id",
  retryAfterIn,
  failureOf: failureOfAccount,
};

/** Names of models that are not in the usual folder, such as tuned ones. */
const NAME_WITH_FOLDER = /^[a-zA-Z]+\/[\w.-]+$/;

/** The model and whether the answer streams are in the path alone. */
function pathOf({ model, stream, endpoint = "chat" }: UpstreamRequest): string {
  if (endpoint === "embeddings") return "/openai/embeddings";
  const name = NAME_WITH_FOLDER.test(model) ? model : `models/${encodeURIComponent(model)}`;
  return stream ? `/${name}:streamGenerateContent?alt=sse` : `/${name}:generateContent`;
}

function credentialOf({ endpoint }: UpstreamRequest, apiKey: string | null): readonly string[] {
  if (apiKey === null) return [];
  return endpoint === "embeddings" ? ["authorization", `Bearer ${apiKey}`] : ["x-goog-api-key", apiKey];
}

/** The wait is in a detail of the error, such as `7.5s`. */
function retryAfterIn(body: string): number | undefined {
  for (const { retryDelay } of detailsIn(body)) {
    const [, seconds] = (typeof retryDelay === "string" && /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)) || [];
    if (seconds !== undefined) return Number(seconds);
  }
  return undefined;
}

function detailsIn(body: string): readonly { readonly [name: string]: unknown }[] {
  const error = parseObject(body)?.["error"];
  const details = isObject(error) ? error["details"] : null;
  return Array.isArray(details) ? details.filter(isObject) : [];
}

/** A wrong key, a region or a bill is refused as if the request were wrong. It is the operator's matter, and nothing was computed. */
const OF_OUR_ACCOUNT = /api key not (?:valid|found)|api key expired|location is not supported|enable billing/i;
const ACCOUNT_REASON = /^API_KEY_/;

function failureOfAccount(status: number, body: string): UpstreamFailure | null {
  if (status !== BAD_REQUEST) return null;
  const isByReason = detailsIn(body).some(({ reason }) => typeof reason === "string" && ACCOUNT_REASON.test(reason));
  if (!isByReason && !readErrorWords(body).messages.some((message) => OF_OUR_ACCOUNT.test(message))) return null;
  return { kind: "unbilled", reason: `the upstream answered ${status} for the operator's account` };
}
