// The items of an answer's output. An item is opened, grows and is done; each step has its events.

import { flatName, type Tool } from "../conversation.ts";
import { unwrapInput } from "../freeform-input.ts";

/** An event before it has its number. */
export type OutputEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export type ItemStatus = "completed" | "incomplete";

/** One item. `begin` is called once and first, `done` once and last. */
export interface OutputItem {
  begin(): OutputEvent[];
  done(status: ItemStatus): OutputEvent[];
  /** The item as the whole answer has it. */
  readonly result: object;
}

/** Where an item is in the answer, and what its id is made of. */
export type ItemPlace = { readonly index: number; readonly answerId: string };

/** What every event of an item names. */
type Address = { readonly item_id: string; readonly output_index: number };

function addressOf(prefix: string, { index, answerId }: ItemPlace): Address {
  return { item_id: `${prefix}_${answerId}_${index}`, output_index: index };
}

function added({ output_index }: Address, item: object): OutputEvent {
  return { type: "response.output_item.added", output_index, item };
}

function itemDone({ output_index }: Address, item: object): OutputEvent {
  return { type: "response.output_item.done", output_index, item };
}

/** A message of texts and refusals. */
export class MessageItem implements OutputItem {
  readonly #address: Address;
  readonly #content: object[] = [];
  #part: { readonly kind: "text" | "refusal"; text: string } | null = null;
  #status: ItemStatus | "in_progress" = "in_progress";

  constructor(place: ItemPlace) {
    this.#address = addressOf("msg", place);
  }

  get result(): object {
    const content = [...this.#content];
    return { id: this.#address.item_id, type: "message", role: "assistant", status: this.#status, content };
  }

  begin(): OutputEvent[] {
    return [added(this.#address, this.result)];
  }

  add(kind: "text" | "refusal", text: string): OutputEvent[] {
    const events: OutputEvent[] = [];
    if (this.#part?.kind !== kind) {
      events.push(...this.#endPart());
      this.#part = { kind, text: "" };
      events.push({ type: "response.content_part.added", ...this.#place(), part: contentOf(this.#part) });
    }
    this.#part.text += text;
    const delta = { ...this.#place(), delta: text };
    if (kind === "text") events.push({ type: "response.output_text.delta", ...delta, logprobs: [] });
    else events.push({ type: "response.refusal.delta", ...delta });
    return events;
  }

  done(status: ItemStatus): OutputEvent[] {
    const events = this.#endPart();
    this.#status = status;
    return [...events, itemDone(this.#address, this.result)];
  }

  #endPart(): OutputEvent[] {
    if (this.#part === null) return [];
    const { kind, text } = this.#part;
    const place = this.#place();
    const part = contentOf(this.#part);
    this.#content.push(part);
    this.#part = null;
    return [
      kind === "text"
        ? { type: "response.output_text.done", ...place, text, logprobs: [] }
        : { type: "response.refusal.done", ...place, refusal: text },
      { type: "response.content_part.done", ...place, part },
    ];
  }

  #place(): object {
    return { ...this.#address, content_index: this.#content.length };
  }
}

function contentOf({ kind, text }: { readonly kind: "text" | "refusal"; readonly text: string }): object {
  if (kind === "refusal") return { type: "refusal", refusal: text };
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

/** Reasoning: what the provider shows of it, as a summary of one part, and its opaque text. */
export class ReasoningItem implements OutputItem {
  readonly #address: Address;
  #text: string | null = null;
  #encrypted: string | null = null;
  #isDone = false;

  constructor(place: ItemPlace) {
    this.#address = addressOf("rs", place);
  }

  /** Whether it has its opaque text, behind which nothing belongs to it. */
  get isSealed(): boolean {
    return this.#encrypted !== null;
  }

  get result(): object {
    const summary = this.#isDone && this.#text !== null ? [this.#part(this.#text)] : [];
    const encrypted = this.#encrypted === null ? {} : { encrypted_content: this.#encrypted };
    return { id: this.#address.item_id, type: "reasoning", summary, ...encrypted };
  }

  begin(): OutputEvent[] {
    return [added(this.#address, this.result)];
  }

  add(text: string): OutputEvent[] {
    const place = this.#place();
    const part = { type: "response.reasoning_summary_part.added", ...place, part: this.#part("") };
    const events = this.#text === null ? [part] : [];
    this.#text = (this.#text ?? "") + text;
    return [...events, { type: "response.reasoning_summary_text.delta", ...place, delta: text }];
  }

  /** The client returns it in a later request. */
  seal(encrypted: string): void {
    this.#encrypted = encrypted;
  }

  done(): OutputEvent[] {
    this.#isDone = true;
    const text = this.#text;
    const place = this.#place();
    const ends =
      text === null
        ? []
        : [
            { type: "response.reasoning_summary_text.done", ...place, text },
            { type: "response.reasoning_summary_part.done", ...place, part: this.#part(text) },
          ];
    return [...ends, itemDone(this.#address, this.result)];
  }

  #part(text: string): object {
    return { type: "summary_text", text };
  }

  #place(): object {
    return { ...this.#address, summary_index: 0 };
  }
}

/** Which call an item is. */
export type CalledTool = { readonly callId: string; readonly name: string };

/** A call of a function, whose input is sent as it comes. */
export class FunctionCallItem implements OutputItem {
  readonly #address: Address;
  readonly #call: CalledTool;
  readonly #tool: Tool | undefined;
  #input = "";
  #status: ItemStatus | "in_progress" = "in_progress";

  constructor(place: ItemPlace, call: CalledTool, tool: Tool | undefined) {
    this.#address = addressOf("fc", place);
    this.#call = call;
    this.#tool = tool;
  }

  get result(): object {
    return {
      id: this.#address.item_id,
      type: "function_call",
      call_id: this.#call.callId,
      ...toolNames(this.#call, this.#tool),
      arguments: this.#input,
      status: this.#status,
    };
  }

  begin(): OutputEvent[] {
    return [added(this.#address, this.result)];
  }

  add(text: string): OutputEvent[] {
    this.#input += text;
    return [{ type: "response.function_call_arguments.delta", ...this.#address, delta: text }];
  }

  done(status: ItemStatus): OutputEvent[] {
    const events = this.#input === "" && status === "completed" ? this.add("{}") : [];
    this.#status = status;
    const { name } = toolNames(this.#call, this.#tool);
    return [
      ...events,
      { type: "response.function_call_arguments.done", ...this.#address, name, arguments: this.#input },
      itemDone(this.#address, this.result),
    ];
  }
}

/** A call of a freeform tool. Its text is inside of JSON until that has ended, so all of it is sent at the end. */
export class CustomCallItem implements OutputItem {
  readonly #address: Address;
  readonly #call: CalledTool;
  readonly #tool: Tool;
  #json = "";
  #input = "";
  #status: ItemStatus | "in_progress" = "in_progress";

  constructor(place: ItemPlace, call: CalledTool, tool: Tool) {
    this.#address = addressOf("ctc", place);
    this.#call = call;
    this.#tool = tool;
  }

  get result(): object {
    return {
      id: this.#address.item_id,
      type: "custom_tool_call",
      call_id: this.#call.callId,
      ...toolNames(this.#call, this.#tool),
      input: this.#input,
      status: this.#status,
    };
  }

  begin(): OutputEvent[] {
    return [added(this.#address, this.result)];
  }

  add(text: string): OutputEvent[] {
    this.#json += text;
    return [];
  }

  done(status: ItemStatus): OutputEvent[] {
    this.#status = status;
    this.#input = unwrapInput(this.#json);
    return [
      { type: "response.custom_tool_call_input.delta", ...this.#address, delta: this.#input },
      { type: "response.custom_tool_call_input.done", ...this.#address, input: this.#input },
      itemDone(this.#address, this.result),
    ];
  }
}

/** Models know the flat name; clients find a tool by its name and namespace alone. */
function toolNames(
  { name }: CalledTool,
  tool: Tool | undefined,
): { readonly name: string; readonly namespace?: string } {
  if (tool === undefined || flatName(tool) !== name) return { name };
  return { name: tool.name, ...(tool.namespace === null ? {} : { namespace: tool.namespace }) };
}
