import type { ChatRequest } from "../request/read-request.ts";

/** A request as far as its bill depends on it. */
export type BilledRequest = {
  readonly model: string;
  readonly stream: boolean;
  /** Our own count of the input, without media. */
  readonly estimateInput: () => Promise<number>;
  /** The conversation, whose beginning upstreams keep in their prompt cache. Null: it is none. */
  readonly conversation: ChatRequest | null;
};
