// Writes the turns of a conversation as messages. Anthropic wants turns of the user and of the assistant in alternation, the user's
// first, and the results of all calls at the beginning of the turn behind them.

import type { Conversation, CallPart, Part, ResultPart, Turn } from "../conversation.ts";
import { flatName } from "../conversation.ts";
import { plainCallId } from "../chat/call-ids.ts";
import { refuseForModel } from "./refuse-for-model.ts";
import { isBlank, type WrittenBlock, BlockWriter, type BlockFacts, textBlock } from "./write-blocks.ts";

export type WrittenMessage = { readonly role: "user" | "assistant"; readonly content: WrittenBlock[] };

/** Comes before an answer that no turn of the user precedes. */
const BEGINNING = "(The conversation begins here.)";
const NO_RESULT = "no result";

/** The instructions before the first turn. */
export function systemBlocks({ system }: Conversation): WrittenBlock[] {
  return system.filter(({ text }) => !isBlank(text)).map(textBlock);
}

/** The messages. Errors: ValidationError where a part has no form, a result has no call, or nothing is left. */
export function writeTurns({ turns, tools }: Conversation, facts: BlockFacts): WrittenMessage[] {
  const freeform = new Set(tools.filter(({ schema }) => schema === null).map(flatName));
  const writer = new TurnWriter(new BlockWriter(freeform, facts));
  for (const turn of turns) writer.add(turn);
  return writer.end();
}

/** A call of the last turn of the assistant. */
type OpenCall = { readonly id: string; readonly writtenId: string; result: ResultPart | null };

class TurnWriter {
  readonly #blocks: BlockWriter;
  readonly #messages: WrittenMessage[] = [];
  readonly #ids = new Set<string>();
  #calls: OpenCall[] = [];
  /** The blocks of the turn that is being gathered. */
  #ofAssistant: WrittenBlock[] = [];
  #ofUser: WrittenBlock[] = [];

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  add({ role, parts }: Turn): void {
    if (role === "assistant") {
      this.#closeUser();
      for (const part of parts) this.#ofAssistant.push(...this.#assistantBlocks(part));
      return;
    }
    // Instructions in mid-conversation have no role of their own at every model.
    for (const part of parts) {
      if (part.kind === "result") this.#take(part);
      else this.#ofUser.push(...this.#blocks.plain(part));
    }
  }

  end(): WrittenMessage[] {
    this.#closeUser();
    this.#closeAssistant();
    this.#closeUser();
    const last = this.#messages.at(-1);
    if (last?.role === "assistant") trimEnd(last.content);
    if (last?.content.length === 0) this.#messages.pop();
    if (this.#messages.length === 0) throw refuseForModel("messages", "min_items", "must hold text");
    if (this.#messages[0]?.role === "assistant") {
      this.#messages.unshift({ role: "user", content: [{ type: "text", text: BEGINNING }] });
    }
    return this.#messages;
  }

  #assistantBlocks(part: Part): WrittenBlock[] {
    if (part.kind === "reasoning") return this.#blocks.thought(part);
    return part.kind === "call" ? [this.#call(part)] : this.#blocks.plain(part);
  }

  /** An id may be in a request once; a client of another protocol may have it again in another turn. */
  #call(part: CallPart): WrittenBlock {
    const plain = plainCallId(part.id);
    let writtenId = plain;
    for (let again = 2; this.#ids.has(writtenId); again += 1) writtenId = plainCallId(`${plain}.${again}`);
    this.#ids.add(writtenId);
    this.#calls.push({ id: part.id, writtenId, result: null });
    return this.#blocks.call(part, writtenId);
  }

  #take(result: ResultPart): void {
    const call = this.#calls.find(({ id, result: earlier }) => id === result.callId && earlier === null);
    if (call === undefined) {
      const id = JSON.stringify(result.callId.slice(0, 100));
      throw refuseForModel(
        "messages",
        "result",
        `must not hold a result for ${id}, which is no open call of the turn before it`,
      );
    }
    call.result = result;
  }

  /** Results are gathered until the assistant goes on. */
  #closeUser(): void {
    const isAnswered = this.#calls.some(({ result }) => result !== null);
    if (this.#ofUser.length === 0 && !isAnswered) return;
    this.#closeAssistant();
    this.#pushResults();
  }

  #closeAssistant(): void {
    const content = this.#ofAssistant;
    this.#ofAssistant = [];
    if (content.length > 0) this.#push("assistant", content);
    // Calls without any result behind them are answered too.
    if (content.some(({ type }) => type === "tool_use") && this.#ofUser.length === 0) this.#pushResults();
  }

  #pushResults(): void {
    const results = this.#calls.map(({ writtenId, result }) =>
      result === null
        ? { type: "tool_result", tool_use_id: writtenId, content: NO_RESULT }
        : this.#blocks.result(result, writtenId),
    );
    const content = [...results, ...this.#ofUser];
    this.#calls = [];
    this.#ofUser = [];
    if (content.length > 0) this.#push("user", content);
  }

  #push(role: WrittenMessage["role"], content: WrittenBlock[]): void {
    const last = this.#messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else this.#messages.push({ role, content });
  }
}

/** A text that the model goes on with must not end in blanks. */
function trimEnd(content: WrittenBlock[]): void {
  for (let last = content.at(-1); last?.type === "text"; last = content.at(-1)) {
    const text = String(last["text"]).trimEnd();
    content.pop();
    if (text === "") continue;
    content.push({ ...last, text });
    return;
  }
}
