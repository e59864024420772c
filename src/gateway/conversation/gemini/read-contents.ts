// The contents of a request as turns. Calls and their results are matched by id where both have one, else by name and order.

import type { Part, ResultPart, Turn } from "../conversation.ts";
import type { Members } from "./members.ts";
import { type ReadPart, readParts, type UnmatchedResult } from "./read-parts.ts";

/** The bound of the contract of RPC callers. */
const MAX_CONTENTS = 10_000;
const ROLES = new Map<unknown, "user" | "model">([
  [null, "user"],
  ["", "user"],
  ["user", "user"],
  ["function", "user"],
  ["model", "model"],
]);

/** The turns. */
export function readContents(body: Members): Turn[] {
  const contents = body.objects("contents", MAX_CONTENTS);
  if (body.value("contents") === null || body.isEmptyList("contents")) {
    body.refuse("contents", "min_items", "must hold at least one content");
  }
  const calls = new OpenCalls();
  const turns: Turn[] = [];
  for (const content of contents) {
    const role = ROLES.get(content.value("role"));
    if (role === undefined) {
      content.refuse("role", "in", "must be user or model");
      continue;
    }
    const read = readParts(content, role);
    const parts = role === "model" ? calls.begin(read) : calls.end(read);
    turns.push({ role: role === "model" ? "assistant" : "user", parts });
  }
  return turns;
}

type OpenCall = { readonly id: string; readonly name: string; readonly isMade: boolean };

/** The calls of the last answer that wait for their results. */
class OpenCalls {
  #open: OpenCall[] = [];
  #isAnswer = false;
  #made = 0;

  /** The parts of a model's content. A call without an id gets one: the same each time, so that prompt caches still match. */
  begin(read: readonly ReadPart[]): Part[] {
    if (!this.#isAnswer) this.#open = [];
    this.#isAnswer = true;
    return read.flatMap((part): Part[] => {
      if (part.kind === "unmatched") return [];
      if (part.kind !== "call") return [part];
      const isMade = part.id === "" || this.#open.some(({ id }) => id === part.id);
      const id = isMade ? `call_${this.#made++}` : part.id;
      this.#open.push({ id, name: part.tool.name, isMade });
      return [{ ...part, id }];
    });
  }

  /** The parts of a user's content. */
  end(read: readonly ReadPart[]): Part[] {
    this.#isAnswer = false;
    return read.flatMap((part): Part[] => (part.kind === "unmatched" ? this.#match(part) : [part]));
  }

  #match({ id, name, where, result }: UnmatchedResult): ResultPart[] {
    const byId = id === "" ? -1 : this.#open.findIndex((call) => call.id === id && !call.isMade);
    const byName = this.#open.findIndex((call) => call.name === name && (id === "" || call.isMade));
    const [call] = this.#open.splice(byId < 0 ? byName : byId, byId < 0 && byName < 0 ? 0 : 1);
    if (call !== undefined) return [{ kind: "result", callId: call.id, ...result }];
    where.refuse(
      "",
      "call",
      `must answer a call of the content before it, which has none of ${JSON.stringify(name.slice(0, 100))} left`,
    );
    return [];
  }
}
