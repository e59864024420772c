// Random conversations keep every text, call, result and picture, in the form and in the chat request made of it.

import { describe, expect, it } from "vitest";
import { writeChatRequest } from "../chat/write-chat-request.ts";
import { readMessagesRequest } from "./read-messages-request.ts";

/** A generator of whole numbers below a bound, from a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A conversation, and the marks that each of its parts has. */
function conversationOf(seed: number): { readonly messages: object[]; readonly marks: string[] } {
  const random = randomOf(seed);
  const marks: string[] = [];
  const mark = (kind: string): string => {
    const made = `${kind}${marks.length}q`;
    marks.push(made);
    return made;
  };
  const text = () => ({ type: "text", text: `"${mark("text")}"\n漢🙂` });
  const image = () => ({ type: "image", source: { type: "url", url: `https://x.example/${mark("image")}.png` } });
  const messages: object[] = [{ role: "user", content: [text(), ...(random(2) === 0 ? [image()] : [])] }];
  for (let turn = 0; turn < 1 + random(4); turn += 1) {
    const ids = Array.from({ length: random(4) }, (_, call) => `functions.Bash:${turn}.${call}`);
    const calls = ids.map((id) => ({ type: "tool_use", id, name: "Bash", input: { command: mark("call") } }));
    const results = ids.map((id) => {
      const content = random(2) === 0 ? mark("result") : [text(), image()];
      return { type: "tool_result", tool_use_id: id, content, is_error: random(3) === 0 };
    });
    if (random(2) === 0) results.reverse();
    messages.push({ role: "assistant", content: [text(), ...calls] });
    if (random(3) === 0) messages.push({ role: "system", content: mark("system") });
    messages.push({ role: "user", content: [...results, text()] });
  }
  return { messages, marks };
}

describe("a random conversation", () => {
  it.each(Array.from({ length: 200 }, (_, seed) => seed))("loses nothing, seed %s", (seed) => {
    const { messages, marks } = conversationOf(seed);
    const body = { model: "acme/m", max_tokens: 64, messages };
    const conversation = readMessagesRequest(body, { isOnlyCounted: false });
    const form = JSON.stringify(conversation);
    const chat = writeChatRequest(conversation).toString();
    for (const mark of marks) {
      expect(form.split(mark)).toHaveLength(2);
      expect(chat.split(mark)).toHaveLength(2);
    }
    expect(conversation.turns.map(({ role }) => role)).toEqual(messages.map((each) => (each as { role: string }).role));
  });
});
