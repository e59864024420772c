import { createHash } from "node:crypto";

/** OpenAI takes no longer key. */
const MAX_LENGTH = 64;

/** A client's key of a prompt cache, at a length that upstreams take. */
export function shortCacheKey(key: string): string {
  return key.length <= MAX_LENGTH ? key : createHash("sha256").update(key).digest("hex");
}

/** The name of a customer's prompt cache at providers: customers share the operator's account, and none may name another's cache. */
export function ownCacheKey(userTag: string, key: string): string {
  return shortCacheKey(`${userTag}.${key}`);
}
