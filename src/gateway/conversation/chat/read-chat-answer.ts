// Reads the answer of a chat upstream as events. Chunks and whole answers have our names by then, and the billed usage.

import { inputTokensOf, outputTokensOf } from "../../../billing/cost.ts";
import { uuidv7 } from "../../../kernel/ids.ts";
import { cutAnswer } from "../../answer/contract-answer.ts";
import { readUsage } from "../../metering/read-usage.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { AnswerReader } from "../../formats/shown-format.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import { plainCallId } from "./call-ids.ts";

/** Reads the chunks of one stream, or a whole answer. */
export class ChatAnswerReader implements AnswerReader {
  readonly #calls: Call[] = [];
  readonly #ids = new Set<string>();
  #begun = 0;
  #finish: string | null = null;
  #usage: AnswerUsage = NO_USAGE;

  /** The events of a chunk, or of a whole answer. How it ended and the usage wait for `end`: they may come in either order. */
  read(answer: JsonObject): AnswerEvent[] {
    if (isObject(answer["usage"])) this.#usage = usageOf(answer["usage"]);
    const { choices } = cutAnswer(answer);
    const choice: unknown = Array.isArray(choices) ? choices[0] : null;
    if (!isObject(choice)) return [];
    const { finish_reason: finish, delta, message } = choice;
    if (typeof finish === "string" && finish !== "") this.#finish = finish;
    if (isObject(delta)) return this.#partEvents(delta);
    return isObject(message) ? this.#partEvents({ ...message, tool_calls: numbered(message["tool_calls"]) }) : [];
  }

  /** The events behind the last chunk. */
  end(): AnswerEvent[] {
    const late = this.#calls.flatMap((call) => {
      // Some upstreams give calls no ids; without a name there is no call.
      if (call.id === "") call.id = newCallId();
      return this.#callEvents(call, "");
    });
    return [
      ...late,
      { kind: "finish", reason: finishReason(this.#finish, this.#begun > 0) },
      { kind: "usage", usage: this.#usage },
    ];
  }

  #partEvents({ content, refusal, reasoning_content: reasoning, tool_calls: calls }: JsonObject): AnswerEvent[] {
    return [
      ...textEvents("reasoning", reasoning),
      ...textEvents("text", content),
      ...textEvents("refusal", refusal),
      ...(Array.isArray(calls) ? calls.filter(isObject).flatMap((call) => this.#readCall(call)) : []),
    ];
  }

  #readCall({ id, index, function: called }: JsonObject): AnswerEvent[] {
    const { name, arguments: args } = isObject(called) ? called : {};
    const part = { id: textOf(id), name: textOf(name), index: typeof index === "number" ? index : null };
    const call = this.#callOf(part);
    if (call.name === "") call.name = part.name;
    if (call.id === "") call.id = part.id;
    return this.#callEvents(call, textOf(args));
  }

  /** The call that a part belongs to. Some upstreams send each call whole and number all of them 0, or none. */
  #callOf({ id, name, index }: { id: string; name: string; index: number | null }): Call {
    const last = this.#calls.findLast((call) => index === null || call.index === index);
    const isOther = last !== undefined && name !== "" && id !== "" && last.id !== "" && last.id !== id;
    if (last !== undefined && !isOther) return last;
    const call = { index, number: null, id: "", name: "", waiting: "" };
    this.#calls.push(call);
    return call;
  }

  /** A client returns results by id, and a request with the same id twice is refused. */
  #uniqueId(id: string): string {
    const plain = plainCallId(id);
    const unique = this.#ids.has(plain) ? newCallId() : plain;
    this.#ids.add(unique);
    return unique;
  }

  /** Input waits until its call has an id and a name. */
  #callEvents(call: Call, input: string): AnswerEvent[] {
    call.waiting += input;
    if (call.name === "" || call.id === "") return [];
    const events: AnswerEvent[] = [];
    if (call.number === null) {
      call.number = this.#begun;
      this.#begun += 1;
      events.push({ kind: "call", call: call.number, id: this.#uniqueId(call.id), name: call.name });
    }
    if (call.waiting !== "") events.push({ kind: "input", call: call.number, text: call.waiting });
    call.waiting = "";
    return events;
  }
}

/** The calls of a whole answer by their places: each is whole, and some upstreams give neither ids nor indexes. */
function numbered(calls: unknown): unknown {
  return Array.isArray(calls) ? calls.filter(isObject).map((call, index) => ({ ...call, index })) : calls;
}

/** `number`: in the order in which calls begin; null: it has not begun. */
type Call = { readonly index: number | null; number: number | null; id: string; name: string; waiting: string };

function newCallId(): string {
  return `call_${uuidv7().replaceAll("-", "")}`;
}

function textEvents(kind: "text" | "refusal" | "reasoning", text: unknown): AnswerEvent[] {
  return typeof text === "string" && text !== "" ? [{ kind, text }] : [];
}

const LENGTH: ReadonlySet<unknown> = new Set(["length", "max_tokens", "model_length"]);
const FILTERED: ReadonlySet<unknown> = new Set(["content_filter", "safety", "refusal"]);

/** Upstreams write `stop` behind calls, and `tool_calls` where there are none. */
function finishReason(reason: string | null, hasCalls: boolean): FinishReason {
  const folded = reason?.toLowerCase();
  if (LENGTH.has(folded)) return "length";
  if (FILTERED.has(folded)) return "filtered";
  return hasCalls ? "calls" : "stop";
}

const NO_USAGE: AnswerUsage = {
  input: 0,
  cached: 0,
  written: 0,
  written1h: 0,
  output: 0,
  reasoning: 0,
  costIdr: "0",
};

/** The billed usage: in our form, or the upstream's own where it has the same counts. */
function usageOf(usage: JsonObject): AnswerUsage {
  const reading = readUsage(usage);
  if (reading === null) return NO_USAGE;
  const { counts, reasoningTokens } = reading;
  const { cacheWrite = 0, cacheWrite1h = 0 } = counts.otherTokens ?? {};
  const written = cacheWrite + cacheWrite1h;
  const written1h = Math.max(cacheWrite1h, Math.min(written1hIn(usage), written));
  return {
    input: inputTokensOf(counts),
    cached: counts.inputTokensCached,
    written: written - written1h,
    written1h,
    output: outputTokensOf(counts),
    reasoning: reasoningTokens,
    costIdr: typeof usage["cost_idr"] === "string" ? usage["cost_idr"] : NO_USAGE.costIdr,
  };
}

/** Our own name for it, which no upstream has. */
function written1hIn({ prompt_tokens_details: details }: JsonObject): number {
  const tokens = isObject(details) ? details["cache_write_1h_tokens"] : null;
  return typeof tokens === "number" ? tokens : 0;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
