// A message as the events of a stream, in the order in which Anthropic sends them.

export type Json = Readonly<Record<string, unknown>>;

/** The events of a stream that ends with this message. Texts come in pieces of so many characters. */
export function eventsOf(message: Json, pieceSize = 5): Json[] {
  const usage = message["usage"] as Json;
  // The split of cache writes is in the first event alone, and the whole output in the last.
  const { output_tokens: output, output_tokens_details: details, ...input } = usage;
  const begun = { ...message, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } };
  const blocks = (message["content"] as readonly Json[]).flatMap((block, index) =>
    blockEvents(block, index, pieceSize),
  );
  const delta = { stop_reason: message["stop_reason"], stop_sequence: null };
  return [
    { type: "message_start", message: begun },
    { type: "ping" },
    ...blocks,
    { type: "message_delta", delta, usage: { output_tokens: output, output_tokens_details: details } },
    { type: "message_stop" },
  ];
}

/** The bytes of an event. */
export function sseOf(event: Json): string {
  return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
}

function blockEvents(block: Json, index: number, pieceSize: number): Json[] {
  const start = (content_block: Json): Json => ({ type: "content_block_start", index, content_block });
  const deltas = (text: string, deltaOf: (piece: string) => Json): Json[] =>
    piecesOf(text, pieceSize).map((piece) => ({ type: "content_block_delta", index, delta: deltaOf(piece) }));
  const stop = { type: "content_block_stop", index };
  switch (block["type"]) {
    case "text":
      return [
        start({ type: "text", text: "" }),
        ...deltas(String(block["text"]), (text) => ({ type: "text_delta", text })),
        stop,
      ];
    case "thinking": {
      const signature = { type: "signature_delta", signature: block["signature"] };
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...deltas(String(block["thinking"]), (thinking) => ({ type: "thinking_delta", thinking })),
        { type: "content_block_delta", index, delta: signature },
        stop,
      ];
    }
    case "tool_use": {
      const input = JSON.stringify(block["input"]);
      const pieces = input === "{}" ? "" : input;
      return [
        start({ ...block, input: {} }),
        ...deltas(pieces, (partial_json) => ({ type: "input_json_delta", partial_json })),
        stop,
      ];
    }
    default:
      return [start(block), stop];
  }
}

/** Whole characters stay whole. */
function piecesOf(text: string, size: number): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}

/** A member as a text, empty where it is none. */
export function textIn(object: Json | undefined, name: string): string {
  const value = object?.[name];
  return typeof value === "string" ? value : "";
}
