// The calls of an answer in chat: what each adds to the message when it begins, with its input, and at the end of the answer.

import { unwrapInput } from "../freeform-input.ts";

/** Members of a message: of a delta, or of the whole. */
export type MessagePart = { readonly [name: string]: unknown };

/** One call. */
export interface AnsweredCall {
  begin(): MessagePart[];
  add(input: string): MessagePart[];
  /** The call is complete. */
  done(): MessagePart[];
}

/** A call of a function, whose input is sent as it comes. */
export class FunctionCall implements AnsweredCall {
  readonly #index: number;
  readonly #id: string;
  readonly #name: string;
  #isEmpty = true;

  constructor(index: number, id: string, name: string) {
    this.#index = index;
    this.#id = id;
    this.#name = name;
  }

  begin(): MessagePart[] {
    const called = { name: this.#name, arguments: "" };
    return [{ tool_calls: [{ index: this.#index, id: this.#id, type: "function", function: called }] }];
  }

  add(input: string): MessagePart[] {
    if (input.trim() !== "") this.#isEmpty = false;
    return input === "" ? [] : [{ tool_calls: [{ index: this.#index, function: { arguments: input } }] }];
  }

  /** Clients parse the arguments, and fail on none. */
  done(): MessagePart[] {
    return this.#isEmpty ? this.add("{}") : [];
  }
}

/** A call of a freeform tool. Its text is inside of JSON until that has ended, so all of it is sent at the end. */
export class CustomCall implements AnsweredCall {
  readonly #index: number;
  readonly #id: string;
  readonly #name: string;
  #json = "";

  constructor(index: number, id: string, name: string) {
    this.#index = index;
    this.#id = id;
    this.#name = name;
  }

  begin(): MessagePart[] {
    const called = { name: this.#name, input: "" };
    return [{ tool_calls: [{ index: this.#index, id: this.#id, type: "custom", custom: called }] }];
  }

  add(input: string): MessagePart[] {
    this.#json += input;
    return [];
  }

  done(): MessagePart[] {
    return [{ tool_calls: [{ index: this.#index, custom: { input: unwrapInput(this.#json) } }] }];
  }
}

/** A call in the older form of chat, which has room for the first alone. */
export class OlderCall implements AnsweredCall {
  readonly #isFirst: boolean;
  readonly #name: string;
  #isEmpty = true;

  constructor(index: number, name: string) {
    this.#isFirst = index === 0;
    this.#name = name;
  }

  begin(): MessagePart[] {
    return this.#part({ name: this.#name, arguments: "" });
  }

  add(input: string): MessagePart[] {
    if (input.trim() !== "") this.#isEmpty = false;
    return input === "" ? [] : this.#part({ arguments: input });
  }

  done(): MessagePart[] {
    return this.#isEmpty ? this.add("{}") : [];
  }

  #part(call: object): MessagePart[] {
    return this.#isFirst ? [{ function_call: call }] : [];
  }
}
