// Reads the answer of a Responses upstream as events: the events of a stream, or the whole response. Upstreams repeat what they have
// streamed when an item and when the response is done; some send nothing else. What was read of an item is not read again.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import { AnsweredItem } from "./answered-item.ts";
import { NO_USAGE, shownUsage } from "./response-usage.ts";

/** The events of a whole response. Null: it cannot be parsed. `origin`: the upstream that answered. */
export function readResponsesAnswer(json: string, origin: string): AnswerEvent[] | null {
  const response = parseObject(json);
  if (response === null) return null;
  const reader = new ResponsesAnswerReader(origin);
  return [...reader.read(response), ...reader.end()];
}

/** Reads the events of one stream. */
export class ResponsesAnswerReader {
  readonly #origin: string;
  readonly #items = new Map<unknown, AnsweredItem>();
  #calls = 0;
  /** How many items were not numbered. */
  #unnumbered = 0;
  #reason: unknown = null;
  #usage: AnswerUsage = NO_USAGE;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The events of one event's data, or of a whole response. How it ended and the usage wait for `end`. */
  read(data: JsonObject): AnswerEvent[] {
    const { type, response, item } = data;
    if (type === undefined || data["object"] === "response") return this.#whole(data);
    if (isObject(response)) return isLast(type) ? this.#whole(response) : [];
    if (type === "response.output_item.done" && isObject(item)) return this.#done(data["output_index"], item);
    if (type === "response.output_item.added" && isObject(item)) return this.#added(data["output_index"], item);
    const found = this.#items.get(data["output_index"]);
    return found === undefined ? [] : found.add(data);
  }

  /** The events behind the last part. */
  end(): AnswerEvent[] {
    const rest = [...this.#items.values()].flatMap((item) => item.close());
    return [
      ...rest,
      { kind: "finish", reason: finishReason(this.#reason, this.#calls > 0) },
      { kind: "usage", usage: this.#usage },
    ];
  }

  #whole({ output, incomplete_details: details, usage }: JsonObject): AnswerEvent[] {
    if (isObject(details)) this.#reason = details["reason"];
    if (isObject(usage)) this.#usage = shownUsage(usage);
    const items = Array.isArray(output) ? output.filter(isObject) : [];
    // Without numbers nothing shows which of them was read.
    if (this.#unnumbered > 0) return [];
    return items.flatMap((item, index) => this.#done(index, item));
  }

  /** Nothing shows what belongs to an item without a number, so its end alone is read. */
  #added(index: unknown, item: JsonObject): AnswerEvent[] {
    return typeof index === "number" ? this.#item(index, item).begin() : [];
  }

  #done(index: unknown, item: JsonObject): AnswerEvent[] {
    const found = this.#item(index, item);
    return [...found.begin(), ...found.done(item)];
  }

  #item(index: unknown, item: JsonObject): AnsweredItem {
    if (typeof index !== "number") this.#unnumbered += 1;
    const key = typeof index === "number" ? index : `unnumbered ${this.#unnumbered}`;
    const found = this.#items.get(key);
    if (found !== undefined) return found;
    const made = new AnsweredItem(item, { origin: this.#origin, nextCall: () => this.#calls++ });
    this.#items.set(key, made);
    return made;
  }
}

/** Whether the response in an event of this type is complete. */
function isLast(type: unknown): boolean {
  return type === "response.completed" || type === "response.incomplete" || type === "response.failed";
}

function finishReason(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "content_filter") return "filtered";
  if (reason === "max_output_tokens" || reason === "max_tokens") return "length";
  return hasCalls ? "calls" : "stop";
}
