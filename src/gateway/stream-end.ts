import type { JsonObject } from "./request/field-rules.ts";
import type { UpstreamFailure } from "./upstreams/chat-upstream.ts";

/** How an attempt ended that reached the client, or would have. */
export type StreamEnd =
  /** The answer is complete. `held`: its last frames, without usage chunks and `[DONE]`. */
  | {
      readonly kind: "complete";
      readonly held: readonly Buffer[];
      readonly usage: JsonObject | null;
      /** The upstream's own usage chunk, safe to write again; null where it sent none such. */
      readonly usageChunk: string | null;
      readonly lastChunk: JsonObject;
      /** Whether the client has left and the stream was read on. */
      readonly drained: boolean;
    }
  /** It broke off after something had reached the client. */
  | { readonly kind: "broken"; readonly failure: UpstreamFailure }
  /** More could not be held, so what came then was not relayed. */
  | { readonly kind: "stopped"; readonly reason: unknown }
  /** The client has left, and the stream was not read to its end. `failure`: where that was the upstream's doing. */
  | { readonly kind: "gone"; readonly failure: UpstreamFailure | null };
