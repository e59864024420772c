// What models do in each case of a real agent, whatever protocol they speak: they call the agent's own tools, think, break off or
// refuse. What each reported for an answer is kept, because Saldo has to charge that.

import { setTimeout as pause } from "node:timers/promises";
import { type Call, callOf, type Tool } from "./tool-calls.ts";

/** What a case lets the model do; the text of a case is in the prompt as `CASE-<name>`. */
export type CaseName = "TEXT" | "TOOL" | "PARALLEL" | "THINK" | "CANCEL" | "CUT" | "OVERFLOW" | "FULL";

/** The counts that a model reported for one answer, which do not overlap; null: it reported none. */
export type Truth = {
  readonly input: number;
  readonly cached: number;
  readonly written?: number;
  readonly writtenLong?: number;
  readonly output: number;
} | null;

/** A request as a model saw it: its conversation and the last turn of it as JSON, the results of tools, and the functions it offers. */
export type Asked = {
  readonly model: string;
  readonly turns: string;
  readonly lastTurn: string;
  readonly results: readonly string[];
  readonly tools: readonly Tool[];
};

/** A request and what was reported for its answer. `given`: what a model wants back from the agent, as it is. */
export type Seen = { readonly name: CaseName | null; readonly asked: Asked; truth: Truth; given: string | null };

/** The content of an answer. */
export type Answer = { readonly text: string; readonly thought?: string; readonly calls?: readonly Call[] };

/** What a model does with a request. `wait`: an answer that is to be interrupted has begun. */
export type Play = {
  readonly one: Seen;
  readonly answer: Answer;
  readonly isRefused: boolean;
  readonly isCut: boolean;
  readonly isFull: boolean;
  readonly wait?: () => Promise<void>;
};

/** The word that an agent shows when the model's last answer has arrived. */
export const LAST_WORD = "ZEBRA";
export const CHARACTERS_PER_TOKEN = 4;
/** Calls that did not write what they should end, too. */
const MOST_CALLS = 3;
/** A slow end, which Saldo waits for to get the count when the agent has left. */
const WAIT_MS = 2_000;

/** The script of all models. One case runs at a time. */
export class Script {
  /** What was asked since the case began. */
  readonly seen: Seen[] = [];
  #begun = Promise.withResolvers<void>();

  /** Resolves once a streamed answer of the case CANCEL has begun. */
  begun(): Promise<void> {
    this.#begun = Promise.withResolvers<void>();
    return this.#begun.promise;
  }

  /** Keeps a request, and decides on its answer. */
  play(asked: Asked): Play {
    const one: Seen = { name: caseIn(asked), asked, truth: null, given: null };
    const isFirst = this.seen.every(({ name }) => name !== one.name);
    this.seen.push(one);
    const wait = async (): Promise<void> => {
      this.#begun.resolve();
      await pause(WAIT_MS);
    };
    return {
      one,
      answer: answerTo(one, isFirst),
      isRefused: one.name === "OVERFLOW" && isFirst,
      isCut: one.name === "CUT" && isFirst,
      isFull: one.name === "FULL" && isFirst,
      ...(one.name === "CANCEL" ? { wait } : {}),
    };
  }
}

/** The tokens of an answer, as the models here count them. */
export function tokensOf({ text, thought = "", calls = [] }: Answer): number {
  return Math.ceil((text.length + thought.length + JSON.stringify(calls).length) / CHARACTERS_PER_TOKEN);
}

function answerTo({ asked: { results, tools }, name }: Seen, isFirst: boolean): Answer {
  const isOver = results.length >= MOST_CALLS || results.some((text) => /MARK-\d-42/.test(text));
  const isParallel = name === "PARALLEL";
  if (((name === "TOOL" || isParallel) && !isOver) || (name === "FULL" && isFirst)) {
    const calls = (isParallel ? [1, 2] : [1]).flatMap((number) => callOf(tools, number) ?? []);
    if (calls.length > 0) return { text: "", thought: "A command will show it.", calls };
  }
  const said = [...new Set(results.flatMap((text) => text.match(/MARK-\d-42/g) ?? []))].join(" and ");
  const thought = name === "THINK" ? "Let me think about the stripes of this animal for a while." : undefined;
  const text = `The answer is ${LAST_WORD}${said === "" ? "" : `, and the tool wrote ${said}`}. Nothing else is to be done.`;
  return { text, ...(thought === undefined ? {} : { thought }) };
}

/** The last case that is named in what the agent wrote; its own prompt and later tools do not name one. */
function caseIn({ turns }: Asked): CaseName | null {
  const found = [...turns.matchAll(/CASE-([A-Z]+)/g)].at(-1)?.[1];
  return (found as CaseName | undefined) ?? null;
}
