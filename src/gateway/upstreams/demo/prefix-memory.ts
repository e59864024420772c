import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** Conversations remembered, over all callers. */
const MAX_PREFIXES = 10_000;

/** Remembers which beginnings of conversations were seen, as an upstream's prompt cache does. */
export class PrefixMemory {
  readonly #seen = new LRUCache<string, true>({ max: MAX_PREFIXES });

  /** How many of the first messages were seen before in this order; remembers all of them. */
  recall(model: string, messages: readonly string[]): number {
    const hash = createHash("sha256").update(model);
    let known = 0;
    for (const [index, message] of messages.entries()) {
      const prefix = hash.update(`\0${message.length}\0`).update(message).copy().digest("base64");
      if (this.#seen.has(prefix) && known === index) known = index + 1;
      this.#seen.set(prefix, true);
    }
    return known;
  }
}
