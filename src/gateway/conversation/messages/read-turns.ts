// The messages of a request as turns. Each result must belong to a call of the answer before it.

import type { CallPart, Turn } from "../conversation.ts";
import type { Problems } from "../problems.ts";
import { readContent } from "./read-blocks.ts";

/** The bound of the contract of RPC callers. */
const MAX_MESSAGES = 10_000;

/** The turns. */
export function readTurns(value: unknown, problems: Problems): Turn[] {
  const messages = problems.list(value, "messages", MAX_MESSAGES);
  if (Array.isArray(value) && value.length === 0) {
    problems.add("messages", "min_items", "must hold at least one message");
  }
  const turns: Turn[] = [];
  const calls = new OpenCalls();
  for (const [index, item] of messages.entries()) {
    if (problems.isFull) break;
    const where = `messages[${index}]`;
    const message = problems.object(item, where);
    if (message === null) continue;
    const { role, content } = message;
    if (role !== "user" && role !== "assistant" && role !== "system") {
      problems.add(`${where}.role`, "in", "must be one of user, assistant, system");
      continue;
    }
    const turn: Turn = { role, parts: readContent(role, content, `${where}.content`, problems) };
    calls.check(turn, `${where}.content`, problems);
    turns.push(turn);
  }
  return turns;
}

/** The calls of the last answer that wait for their results. Results may be in another order than the calls. */
class OpenCalls {
  #open = new Set<string>();
  #isAnswer = false;

  check({ role, parts }: Turn, where: string, problems: Problems): void {
    if (role === "assistant") {
      if (!this.#isAnswer) this.#open = new Set();
      for (const part of parts) if (part.kind === "call") this.#begin(part, where, problems);
    }
    this.#isAnswer = role === "assistant";
    for (const part of parts) {
      if (part.kind !== "result" || this.#open.delete(part.callId) || part.callId === "") continue;
      const id = JSON.stringify(part.callId.slice(0, 100));
      problems.add(where, "call", `must not hold a result for ${id}, which is no open call of the answer before it`);
    }
  }

  #begin({ id }: CallPart, where: string, problems: Problems): void {
    if (this.#open.has(id) && id !== "") {
      problems.add(where, "unique", `must not hold two calls with the id ${JSON.stringify(id.slice(0, 100))}`);
    }
    this.#open.add(id);
  }
}
