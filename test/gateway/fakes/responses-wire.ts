// A response as the events of a stream, in the order in which OpenAI sends them.

export type Json = Readonly<Record<string, unknown>>;

/** How many characters a piece of a text has. */
export type PieceSize = number;

/** The events of a stream that ends with this response. */
export function eventsOf(response: Json, pieceSize: PieceSize = 7): Json[] {
  const begun = { ...response, status: "in_progress", output: [], usage: null, incomplete_details: null, error: null };
  const events: Json[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
  ];
  const output = response["output"] as readonly Json[];
  for (const [index, item] of output.entries()) events.push(...itemEvents(item, index, pieceSize));
  events.push({ type: `response.${String(response["status"])}`, response });
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}

/** The bytes of an event. */
export function sseOf(event: Json): string {
  return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
}

function itemEvents(item: Json, index: number, pieceSize: PieceSize): Json[] {
  const at = { item_id: item["id"], output_index: index };
  const done = { type: "response.output_item.done", output_index: index, item };
  const added = (blank: Json): Json => {
    return { type: "response.output_item.added", output_index: index, item: { ...item, ...blank } };
  };
  switch (item["type"]) {
    case "message": {
      const parts = (item["content"] as readonly Json[]).flatMap((part, place) =>
        partEvents(part, { ...at, content_index: place }, pieceSize),
      );
      return [added({ status: "in_progress", content: [] }), ...parts, done];
    }
    case "reasoning": {
      const parts = (item["summary"] as readonly Json[]).flatMap((part, place) =>
        summaryEvents(String(part["text"]), { ...at, summary_index: place }, pieceSize),
      );
      return [added({ summary: [], encrypted_content: "" }), ...parts, done];
    }
    case "tool_search_call":
      return [added({ arguments: {}, status: "in_progress" }), done];
    case "custom_tool_call":
      return [
        added({ input: "", status: "in_progress" }),
        ...inputEvents("custom_tool_call_input", item, at, pieceSize),
        done,
      ];
    default:
      return [
        added({ arguments: "", status: "in_progress" }),
        ...inputEvents("function_call_arguments", item, at, pieceSize),
        done,
      ];
  }
}

function partEvents(part: Json, at: Json, pieceSize: PieceSize): Json[] {
  const isRefusal = part["type"] === "refusal";
  const text = String(isRefusal ? part["refusal"] : part["text"]);
  const name = isRefusal ? "refusal" : "output_text";
  return [
    { type: "response.content_part.added", ...at, part: { ...part, [isRefusal ? "refusal" : "text"]: "" } },
    ...piecesOf(text, pieceSize).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
    { type: `response.${name}.done`, ...at, [isRefusal ? "refusal" : "text"]: text },
    { type: "response.content_part.done", ...at, part },
  ];
}

function summaryEvents(text: string, at: Json, pieceSize: PieceSize): Json[] {
  const part = { type: "summary_text", text };
  return [
    { type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } },
    ...piecesOf(text, pieceSize).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
    { type: "response.reasoning_summary_text.done", ...at, text },
    { type: "response.reasoning_summary_part.done", ...at, part },
  ];
}

function inputEvents(name: string, item: Json, at: Json, pieceSize: PieceSize): Json[] {
  const member = name === "function_call_arguments" ? "arguments" : "input";
  const text = String(item[member]);
  return [
    ...piecesOf(text, pieceSize).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
    { type: `response.${name}.done`, ...at, [member]: text },
  ];
}

function piecesOf(text: string, size: PieceSize): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}
