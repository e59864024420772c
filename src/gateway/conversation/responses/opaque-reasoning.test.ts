// Opaque text of reasoning goes to the client as `encrypted_content` and is found again in its next request.

import { describe, expect, it } from "vitest";
import type { AnswerEvent } from "../answer-events.ts";
import type { Part } from "../conversation.ts";
import { responsesProtocol } from "./responses-protocol.ts";

const FACTS = { requestId: "01a20a18-90e1-71af-abb6-25530962f602", createdAtMs: 1_795_392_000_123, inputTokens: 7 };
const SEALED = { origin: "my.host", blob: "gAAAAB-x_=" } as const;
const STOP: AnswerEvent = { kind: "finish", reason: "stop" };

type Item = { readonly type: string } & Record<string, unknown>;

function writer() {
  return responsesProtocol.read(Buffer.from(JSON.stringify({ model: "acme/large", input: "hi" }))).writer(FACTS);
}

/** The items of an answer, which are the same in a stream and in a whole answer. */
function itemsOf(...events: readonly AnswerEvent[]): Item[] {
  const stream = writer();
  const written = [...stream.begin(), ...events.flatMap((event) => stream.write(event)), ...stream.end()];
  const done = written.filter(({ name }) => name === "response.output_item.done");
  const items = done.map(({ data }) => (data as { item: Item }).item);
  expect(writer().whole(events)).toMatchObject({ output: items });
  return items;
}

/** The parts of the model's turn when a client sends the items back. */
function readBack(items: readonly Item[]): readonly Part[] | undefined {
  const body = { model: "acme/large", input: [{ role: "user", content: "hi" }, ...items] };
  const { turns } = responsesProtocol.read(Buffer.from(JSON.stringify(body))).conversation;
  return turns.find(({ role }) => role === "assistant")?.parts;
}

describe("opaque reasoning", () => {
  it("has its text, and is read again", () => {
    const items = itemsOf({ kind: "reasoning", text: "hm" }, { kind: "opaque", ...SEALED }, STOP);
    expect(items).toMatchObject([{ type: "reasoning", summary: [{ text: "hm" }] }]);
    expect(items[0]?.["encrypted_content"]).toBe("my~host.gAAAAB-x_=");
    expect(readBack(items)).toEqual([{ kind: "reasoning", text: "hm", opaque: SEALED }]);
  });

  it("may have no text", () => {
    const items = itemsOf({ kind: "opaque", ...SEALED }, { kind: "text", text: "Hi" }, STOP);
    expect(items).toMatchObject([{ type: "reasoning", summary: [] }, { type: "message" }]);
    expect(readBack(items)?.[0]).toEqual({ kind: "reasoning", text: "", opaque: SEALED });
  });

  it("ends its reasoning: what follows is another", () => {
    const more: AnswerEvent = { kind: "reasoning", text: "more" };
    const items = itemsOf({ kind: "reasoning", text: "hm" }, { kind: "opaque", ...SEALED }, more, STOP);
    expect(items.map(({ summary }) => summary)).toMatchObject([[{ text: "hm" }], [{ text: "more" }]]);
    expect(itemsOf({ kind: "opaque", ...SEALED }, { kind: "opaque", ...SEALED }, STOP)).toHaveLength(2);
  });

  it("waits with its reasoning while a call is open", () => {
    const events: AnswerEvent[] = [
      { kind: "call", call: 0, id: "c0", name: "exec" },
      { kind: "reasoning", text: "hm" },
      { kind: "opaque", ...SEALED },
      { kind: "reasoning", text: "more" },
      { kind: "input", call: 0, text: "{}" },
      STOP,
    ];
    expect(itemsOf(...events)).toMatchObject([
      { type: "function_call", arguments: "{}" },
      { summary: [{ text: "hm" }], encrypted_content: "my~host.gAAAAB-x_=" },
      { summary: [{ text: "more" }] },
    ]);
  });

  it("of a call is in the id of the call, and of its result", () => {
    const items = itemsOf({ kind: "call", call: 0, id: "c0", name: "exec", opaque: SEALED }, STOP);
    const id = String(items[0]?.["call_id"]);
    const result = { type: "function_call_output", call_id: id, output: "done" };
    expect(readBack([...items, result])).toMatchObject([{ kind: "call", id: "c0", opaque: SEALED }]);
  });

  it("is left out where it was not given out here", () => {
    const foreign = { type: "reasoning", summary: [], encrypted_content: "gAAAAABo" };
    expect(readBack([foreign])).toBeUndefined();
  });
});
