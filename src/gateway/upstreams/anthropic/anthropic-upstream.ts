// An upstream with Anthropic's Messages.

import type { UpstreamConfig } from "../../../catalog/catalog-model.ts";
import type { ChatUpstream, UpstreamFailure } from "../chat-upstream.ts";
import { createHttpUpstream, type HttpUpstreamOptions, type UpstreamWire } from "../http/http-upstream.ts";
import { readErrorWords } from "../http/refusals.ts";

const VERSION_HEADER = "anthropic-version";
/** The version of translated requests. The next one takes no sampling values, which older models need. */
const VERSION = "2023-06-01";

/** An account without money is refused as if the request were wrong. It is the operator's matter, and nothing was computed. */
const OF_OUR_ACCOUNT = /credit balance is too low|usage limits|organization has been disabled/i;
const BAD_REQUEST = 400;

/** Opens an upstream. Its base URL may end in `/v1`, as those of other kinds do, or leave it out as Anthropic's own tools do. */
export function createAnthropicUpstream(config: UpstreamConfig, options: HttpUpstreamOptions): ChatUpstream {
  const path = config.baseUrl.endsWith("/v1") ? "/messages" : "/v1/messages";
  const wire: UpstreamWire = {
    path: () => path,
    headers: (apiKey) => (apiKey === null ? [] : ["x-api-key", apiKey]),
    requestIdHeader: "request-id",
    failureOf: failureOfAccount,
  };
  const http = createHttpUpstream(config, wire, options);
  return {
    ...http,
    call: (request, listener) => http.call({ ...request, headers: withVersion(request.headers ?? []) }, listener),
  };
}

/** A client's own version stays. */
function withVersion(headers: readonly string[]): readonly string[] {
  const isNamed = headers.some((each, index) => index % 2 === 0 && each.toLowerCase() === VERSION_HEADER);
  return isNamed ? headers : [...headers, VERSION_HEADER, VERSION];
}

function failureOfAccount(status: number, body: string): UpstreamFailure | null {
  if (status !== BAD_REQUEST || !readErrorWords(body).messages.some((message) => OF_OUR_ACCOUNT.test(message)))
    return null;
  return { kind: "unbilled", reason: `the upstream answered ${status} for the operator's account` };
}
