// The events of a stream that the gateway writes itself.

import type { JsonObject } from "../../request/field-rules.ts";
import { namedEventOf } from "../../stream/sse.ts";
import type { ShownNames } from "../shown-format.ts";

/** An event as bytes. Clients read events by their names. */
export function eventFrom(object: { readonly type: string } & JsonObject): Buffer {
  return namedEventOf(object.type, JSON.stringify(object));
}

/** The first event of a stream whose upstream has not sent one. */
export function startEvent({ id, model }: ShownNames): Buffer {
  const usage = { input_tokens: 0, output_tokens: 0 };
  const message = {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  return eventFrom({ type: "message_start", message: { ...message, usage } });
}

export function blockStop(index: number): Buffer {
  return eventFrom({ type: "content_block_stop", index });
}

/** How a message ended, with its usage. */
export function endEvent(end: JsonObject, usage: JsonObject): Buffer {
  return eventFrom({ type: "message_delta", delta: { stop_sequence: null, ...end }, usage });
}

export function stopEvent(): Buffer {
  return eventFrom({ type: "message_stop" });
}

/** The events of whole blocks: each block at once. */
export function blockEvents(blocks: readonly JsonObject[]): Buffer[] {
  return blocks.flatMap((block, index) => {
    const start = (content_block: JsonObject) => eventFrom({ type: "content_block_start", index, content_block });
    const delta = (given: JsonObject) => eventFrom({ type: "content_block_delta", index, delta: given });
    const stop = blockStop(index);
    switch (block["type"]) {
      case "text":
        return [start({ ...block, text: "" }), delta({ type: "text_delta", text: block["text"] }), stop];
      case "thinking": {
        const { thinking, signature } = block;
        const signed = typeof signature === "string" ? [delta({ type: "signature_delta", signature })] : [];
        const begun = start({ ...block, thinking: "", signature: "" });
        return [begun, delta({ type: "thinking_delta", thinking }), ...signed, stop];
      }
      case "tool_use": {
        const json = JSON.stringify(block["input"] ?? {});
        return [start({ ...block, input: {} }), delta({ type: "input_json_delta", partial_json: json }), stop];
      }
      default:
        return [start(block), stop];
    }
  });
}
