import type { ProtocolName } from "../formats/protocol-name.ts";
import type { Conversation } from "./conversation.ts";
import type { NativeRequest } from "./native-request.ts";

/** A request of a client whose protocol is not chat. The body of its call is its chat form. */
export type ClientRequest = {
  readonly protocol: ProtocolName;
  /** The client's own bytes. */
  readonly body: Buffer;
  readonly conversation: Conversation;
  /** Null: its bytes never pass through, and upstreams of the same protocol get the conversation written again. */
  readonly native: NativeRequest | null;
};
