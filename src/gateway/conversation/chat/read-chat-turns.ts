// The messages of a chat request as instructions and turns. Results are placed behind the turn with their calls, in whatever order
// the client sent them.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { CallPart, Part, ResultPart, TextPart, Turn } from "../conversation.ts";
import { readCallIdText } from "../opaque-text.ts";
import type { ChatAlone } from "./chat-alone.ts";
import { unwrapInput, wrapInput } from "../freeform-input.ts";
import { readReasoning } from "./read-chat-reasoning.ts";
import { readParts, readTexts } from "./read-chat-parts.ts";

/** The instructions before the first turn, and the turns. */
export type ChatTurns = { readonly system: readonly TextPart[]; readonly turns: readonly Turn[] };

/** Reads the checked messages. `isFreeform`: whether a tool of this name takes any text. */
export function readTurns(
  messages: readonly unknown[],
  isFreeform: (name: string) => boolean,
  found: ChatAlone,
): ChatTurns {
  const reader = new TurnReader(isFreeform, found);
  for (let index = 0; index < messages.length && !found.isFull; index += 1) {
    const message = messages[index];
    if (isObject(message)) reader.read(message, `messages[${index}]`);
  }
  return reader.turns();
}

/** `results`: those of its calls. */
type OpenTurn = { readonly role: Turn["role"]; readonly parts: readonly Part[]; readonly results: ResultPart[] };

/** How ids begin for calls in the older form of chat, which has none. */
const NUMBERED = "function_call_";

class TurnReader {
  readonly #isFreeform: (name: string) => boolean;
  readonly #found: ChatAlone;
  readonly #system: TextPart[] = [];
  readonly #turns: OpenTurn[] = [];
  /** The turn of each call that has no result yet. */
  readonly #calls = new Map<string, OpenTurn>();
  /** In the older form a result names the tool, and there is one call in a turn. */
  readonly #idsByTool = new Map<string, string>();
  #numbered = 0;

  constructor(isFreeform: (name: string) => boolean, found: ChatAlone) {
    this.#isFreeform = isFreeform;
    this.#found = found;
  }

  turns(): ChatTurns {
    const turns = this.#turns.flatMap(({ role, parts, results }): Turn[] => [
      { role, parts },
      ...(results.length === 0 ? [] : [{ role: "user" as const, parts: results }]),
    ]);
    return { system: this.#system, turns };
  }

  read(message: JsonObject, where: string): void {
    switch (message["role"]) {
      case "assistant":
        return this.#ofModel(message, where);
      case "tool":
        return this.#result(
          readCallIdText(textOf(message["tool_call_id"])).id,
          `${where}.tool_call_id`,
          message,
          where,
        );
      case "function":
        return this.#result(this.#idsByTool.get(textOf(message["name"])) ?? "", `${where}.name`, message, where);
      case "system":
      case "developer": {
        const texts = readTexts(message, where, this.#found);
        if (this.#turns.length === 0) this.#system.push(...texts);
        else this.#add("system", texts);
        return;
      }
      default:
        this.#add("user", readParts(message, where, this.#found));
    }
  }

  #ofModel(message: JsonObject, where: string): void {
    const refusal = textOf(message["refusal"]);
    const calls = this.#callsOf(message, where);
    const turn = this.#add("assistant", [
      ...readReasoning(message),
      ...readTexts(message, where, this.#found),
      ...(refusal === "" ? [] : [{ kind: "text" as const, text: refusal }]),
      ...calls,
    ]);
    if (turn === null) return;
    for (const { id } of calls) this.#calls.set(id, turn);
  }

  #callsOf(message: JsonObject, where: string): CallPart[] {
    const { tool_calls: calls, function_call: older } = message;
    const parts: CallPart[] = [];
    const ids = new Set<string>();
    for (const [index, call] of (Array.isArray(calls) ? calls : []).entries()) {
      if (!isObject(call)) continue;
      const { id, opaque } = readCallIdText(textOf(call["id"]));
      if (id === "" || ids.has(id)) {
        this.#found.add(`${where}.tool_calls[${index}].id`, "unique", "must be sent, and differ from the others");
      }
      ids.add(id);
      const called = this.#calledBy(call, `${where}.tool_calls[${index}]`);
      if (called !== null) parts.push({ kind: "call", id, ...called, ...(opaque === undefined ? {} : { opaque }) });
    }
    if (isObject(older)) {
      const called = this.#calledBy({ function: older }, `${where}.function_call`);
      if (called !== null) parts.push({ kind: "call", id: this.#numberedId(called.tool.name), ...called });
    }
    return parts;
  }

  #numberedId(tool: string): string {
    this.#numbered += 1;
    const id = `${NUMBERED}${this.#numbered}`;
    this.#idsByTool.set(tool, id);
    return id;
  }

  /** The tool of a call and its input. A tool may have been declared in another way since it was called. */
  #calledBy(
    { function: called, custom }: JsonObject,
    where: string,
  ): { readonly tool: CallPart["tool"]; readonly input: string } | null {
    const { name, arguments: args, input } = isObject(called) ? called : isObject(custom) ? custom : {};
    if (typeof name !== "string" || name === "") {
      this.#found.add(`${where}.type`, "in", "must be function or custom, with a name");
      return null;
    }
    const tool = { name, namespace: null };
    const isFreeform = this.#isFreeform(name);
    if (isObject(called)) return { tool, input: isFreeform ? unwrapInput(textOf(args)) : textOf(args) || "{}" };
    return { tool, input: isFreeform ? textOf(input) : wrapInput(textOf(input)) };
  }

  #result(callId: string, field: string, message: JsonObject, where: string): void {
    const parts = readParts(message, where, this.#found).flatMap((part) => {
      if (part.kind !== "audio") return part;
      this.#found.add(`${where}.content`, "modality", "must not hold audio content");
      return [];
    });
    const turn = this.#calls.get(callId);
    if (turn === undefined) {
      this.#found.add(field, "in", "must name a call before it that has no result yet,");
      return;
    }
    this.#calls.delete(callId);
    turn.results.push({ kind: "result", callId, parts, isError: false });
  }

  /** A turn, null without parts: there is nothing to write in other protocols. */
  #add(role: Turn["role"], parts: readonly Part[]): OpenTurn | null {
    if (parts.length === 0) return null;
    const turn: OpenTurn = { role, parts, results: [] };
    this.#turns.push(turn);
    return turn;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
