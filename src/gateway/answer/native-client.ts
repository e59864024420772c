import { ownCacheKey } from "../conversation/cache-key.ts";
import { protocolOf } from "../formats/formats.ts";
import type { NativeClient } from "../formats/shown-format.ts";
import { customerTag } from "../request/customer-tag.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";
import type { Exchange } from "./exchange.ts";

/** The client of a route whose upstream speaks its protocol: the bytes of the answer are for it. Undefined: they are read first. */
export function nativeClient(
  { call }: Pick<Exchange, "call">,
  { upstream, model }: OpenRoute,
): NativeClient | undefined {
  const { client, key } = call;
  if (!client?.native || client.protocol !== protocolOf(upstream.kind)) return undefined;
  const userTag = customerTag(key.accountId);
  const { cacheKey } = client.conversation;
  return {
    origin: upstream.id,
    repeated: client.native.repeated ?? {},
    hidden: [model, userTag, ...(cacheKey === null ? [] : [ownCacheKey(userTag, cacheKey)])],
  };
}
