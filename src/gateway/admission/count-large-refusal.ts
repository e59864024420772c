import { DomainError } from "../../kernel/errors.ts";
import type { Keys } from "../../keys/keys.ts";
import type { ChatCall } from "../chat.ts";

/** The largest body whose refusal costs hardly more than its receipt, in bytes. */
const FREE_REFUSAL_BYTES = 1_024 * 1_024;

/**
 * A larger body that is refused takes a slot of the key, as an answered one does: reading it is the largest cost. Errors:
 * RateLimited once the key has no slot left, InvalidApiKey, UpstreamBusy.
 */
export async function countLargeRefusal(
  keys: Pick<Keys, "takeSlot">,
  { key, body }: ChatCall,
  error: unknown,
): Promise<void> {
  if (error instanceof DomainError && body.length > FREE_REFUSAL_BYTES) await keys.takeSlot(key);
}
