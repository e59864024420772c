// Some upstreams cut their texts between code units, so that a character outside of the first plane comes in two events. Not every client
// can join its halves, and no event of ours has one: the first half waits for the second.

import type { AnswerEvent } from "./answer-events.ts";

type TextEvent = Extract<AnswerEvent, { readonly text: string }>;

/** The texts of one stream. */
export class WholeCharacters {
  /** The first half that waits at the end of a text: that of the last text, and of the input of each call. */
  #ofText: TextEvent | null = null;
  readonly #ofInputs = new Map<number, string>();

  /** The event with whole characters alone. A half that no other half follows is replaced; in an input, which it breaks, it is left out. */
  read(event: AnswerEvent): AnswerEvent[] {
    if (event.kind === "input") {
      const { whole, half } = split((this.#ofInputs.get(event.call) ?? "") + event.text);
      if (half === "") this.#ofInputs.delete(event.call);
      else this.#ofInputs.set(event.call, half);
      return textEvents(event, whole);
    }
    const waiting = this.#ofText;
    this.#ofText = null;
    if (!("text" in event)) return [...lone(waiting), event];
    const goesOn = waiting?.kind === event.kind;
    const { whole, half } = split(goesOn ? waiting.text + event.text : event.text);
    if (half !== "") this.#ofText = { ...event, text: half };
    return [...(goesOn ? [] : lone(waiting)), ...textEvents(event, whole)];
  }
}

function split(text: string): { readonly whole: string; readonly half: string } {
  const unit = text.charCodeAt(text.length - 1);
  const at = unit >= 0xd8_00 && unit <= 0xdb_ff ? text.length - 1 : text.length;
  return { whole: text.slice(0, at), half: text.slice(at) };
}

function textEvents(event: TextEvent, text: string): AnswerEvent[] {
  if (text === event.text && text.isWellFormed()) return [event];
  return text === "" ? [] : [{ ...event, text: text.toWellFormed() }];
}

function lone(waiting: TextEvent | null): AnswerEvent[] {
  return waiting === null ? [] : textEvents(waiting, waiting.text);
}
