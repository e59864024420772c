// The input of a Responses request: a text, or items that become turns. Ids of items belong to the server that made them and are
// left out. Results of calls are placed behind the turn with their calls, however the client has ordered them.

import type { CallPart, Part, ReasoningPart, ResultPart, TextPart, Turn } from "../conversation.ts";
import { unwrapInput, wrapInput } from "../freeform-input.ts";
import type { ObjectReader } from "./object-reader.ts";
import { readCallIdText, readOpaqueText } from "../opaque-text.ts";
import { readContent, readOutput } from "./read-parts.ts";
import { readToolName, type ToolList } from "./read-tools.ts";

const MAX_ITEMS = 10_000;
const MAX_REASONING_PARTS = 1_000;
const ROLES = ["user", "assistant", "system", "developer"] as const;

/** Searches of another provider's model: their tools are left out, and their results are part of the answer that followed. */
const LEFT_OUT: ReadonlySet<unknown> = new Set(["web_search_call", "tool_search_call", "tool_search_output"]);

/** Items that cannot be read, and what a client can do about each. */
const REFUSED: Readonly<Record<string, string>> = {
  item_reference:
    "must not be item_reference, because no answers are stored here; send store:false and the items themselves",
  compaction_trigger: "must not be compaction_trigger; ask for a summary with an ordinary message",
  compaction: "must not be compaction, which only the provider that made it can read; start a new conversation",
};

/** The instructions before the first turn, and the turns. */
export type Input = { readonly system: readonly TextPart[]; readonly turns: readonly Turn[] };

/** Reads `input`. Tools in it are added to the list, which then has those of the whole request. */
export function readInput(body: ObjectReader, tools: ToolList): Input {
  const { input } = body.object;
  if (typeof input === "string" && input !== "") {
    return { system: [], turns: [{ role: "user", parts: [{ kind: "text", text: input }] }] };
  }
  if (!Array.isArray(input) || input.length === 0) {
    body.refuse("input", "required", "must be a text or an array of items, not empty");
    return { system: [], turns: [] };
  }
  const items = [...body.members("input", MAX_ITEMS)];
  // They may come after the calls of an earlier turn.
  for (const item of items) if (item.object["type"] === "additional_tools") tools.read(item);
  const reader = new ItemReader(tools);
  for (const item of items) reader.read(item);
  return reader.input();
}

/** A turn that more items may join. `results`: those of its calls. */
type OpenTurn = { readonly role: Turn["role"]; readonly parts: Part[]; readonly results: ResultPart[] };

class ItemReader {
  readonly #tools: ToolList;
  readonly #system: TextPart[] = [];
  readonly #turns: OpenTurn[] = [];
  /** The turn of each call that has no result yet. */
  readonly #calls = new Map<string, OpenTurn>();

  constructor(tools: ToolList) {
    this.#tools = tools;
  }

  input(): Input {
    const turns = this.#turns.flatMap(({ role, parts, results }): Turn[] => [
      { role, parts },
      ...(results.length === 0 ? [] : [{ role: "user" as const, parts: results }]),
    ]);
    return { system: this.#system, turns };
  }

  read(item: ObjectReader): void {
    const { type } = item.object;
    switch (type) {
      case undefined:
      case null:
      case "message":
        return this.#message(item);
      case "reasoning":
        return this.#reasoning(item);
      case "function_call":
      case "custom_tool_call":
        return this.#call(item, type === "custom_tool_call");
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#output(item);
      case "additional_tools":
        return;
      default:
        if (LEFT_OUT.has(type)) return;
        item.refuse("type", "in", refusalOf(type) ?? "must be an item of a message, a tool call or reasoning");
    }
  }

  #message(item: ObjectReader): void {
    const named = item.oneOf("role", ROLES);
    if (named === null) {
      if (!item.has("role")) item.refuse("role", "required", `must be one of ${ROLES.join(", ")}`);
      return;
    }
    const role = named === "developer" ? "system" : named;
    const parts = readContent(item, role);
    if (parts.length === 0) return;
    if (role === "system" && this.#turns.length === 0)
      this.#system.push(...parts.filter((part) => part.kind === "text"));
    else if (role === "assistant") this.#ofModel().parts.push(...parts);
    else this.#turns.push({ role, parts: [...parts], results: [] });
  }

  /** What is encrypted is kept where it names the upstream that made it. */
  #reasoning(item: ObjectReader): void {
    const text = textsOf(item, "content") || textsOf(item, "summary");
    const opaque = readOpaqueText(item.text("encrypted_content"));
    const part: ReasoningPart = { kind: "reasoning", text, opaque };
    if (text !== "" || opaque !== null) this.#ofModel().parts.push(part);
  }

  #call(item: ObjectReader, isCustom: boolean): void {
    const { id, opaque } = readCallIdText(item.fullText("call_id"));
    const name = { name: readToolName(item, "name"), namespace: item.text("namespace") || null };
    const sent = item.text(isCustom ? "input" : "arguments");
    // A tool may have been declared in another way, or not at all, since it was called.
    const isFreeform = this.#tools.find(name)?.schema === null;
    const input = isFreeform === isCustom ? sent : isCustom ? wrapInput(sent) : unwrapInput(sent);
    const part: CallPart = {
      kind: "call",
      id,
      tool: name,
      input: isFreeform || input !== "" ? input : "{}",
      ...(opaque ? { opaque } : {}),
    };
    const turn = this.#ofModel();
    turn.parts.push(part);
    this.#calls.set(id, turn);
  }

  #output(item: ObjectReader): void {
    const { id: callId } = readCallIdText(item.fullText("call_id"));
    const parts = readOutput(item);
    const turn = this.#calls.get(callId);
    if (turn === undefined) {
      if (callId !== "") item.refuse("call_id", "in", "must be the id of a call before it that has no output yet");
      return;
    }
    this.#calls.delete(callId);
    turn.results.push({ kind: "result", callId, parts, isError: false });
  }

  /** The turn of the model that goes on here: once it has a result, what follows is a new one. */
  #ofModel(): OpenTurn {
    const last = this.#turns.at(-1);
    if (last?.role === "assistant" && last.results.length === 0) return last;
    const turn: OpenTurn = { role: "assistant", parts: [], results: [] };
    this.#turns.push(turn);
    return turn;
  }
}

function textsOf(item: ObjectReader, field: string): string {
  if (!item.has(field)) return "";
  return [...item.members(field, MAX_REASONING_PARTS)].map((part) => part.text("text")).join("\n\n");
}

function refusalOf(type: unknown): string | undefined {
  return typeof type === "string" && Object.hasOwn(REFUSED, type) ? REFUSED[type] : undefined;
}
