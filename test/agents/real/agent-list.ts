// The coding agents, each with the version that is tried and the words that let it answer without a person.

import type { NativeKind } from "./native-models.ts";
import type { CaseName } from "./script.ts";

/** A case for the agent alone, which the model does not see. */
export type OwnCase = "BALANCE" | "RATE";

export type RealAgent = {
  readonly id: string;
  readonly package: string;
  /** The program and its words around the prompt. */
  readonly words: (prompt: string) => readonly string[];
  /** Ends what it leaves running. */
  readonly after?: readonly string[];
  /** More than a text and a call of a tool. */
  readonly cases?: readonly (CaseName | OwnCase)[];
  /** The protocol of its own: it is tried at an upstream that speaks it, too, in the same cases but `FULL` and `RATE`. */
  readonly native?: NativeKind;
  /** The model in whose context a conversation of two answers has no room. */
  readonly shortModel?: string;
  /** Whether it gives up an answer that broke off. */
  readonly stopsAtCut?: boolean;
  /** The most requests that it may send for one prompt in a case, where it repeats. */
  readonly most?: Partial<Record<CaseName | OwnCase, number>>;
  readonly env?: Readonly<Record<string, string>>;
};

const EVERY_CASE = ["PARALLEL", "THINK", "CANCEL", "CUT", "OVERFLOW", "FULL", "BALANCE", "RATE"] as const;

export const realAgents: readonly RealAgent[] = [
  {
    id: "claude",
    package: "@anthropic-ai/claude-code@2.1.330",
    words: (prompt) => ["claude", "-p", prompt, "--allowedTools", "Bash(printf:*)"],
    cases: EVERY_CASE,
    native: "anthropic",
    shortModel: "local/short",
    // A cut answer is continued up to three times; a refusal for the balance is not repeated.
    most: { CUT: 4, OVERFLOW: 6, BALANCE: 1, RATE: 4 },
  },
  {
    id: "codex",
    package: "@openai/codex@0.169.0",
    words: (prompt) => ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
    cases: EVERY_CASE,
    native: "openai-responses",
    shortModel: "local/shortest",
    // Saldo has charged what came before the cut: it answers so that Codex does not repeat it, with each time a charge.
    stopsAtCut: true,
    // `saldo-agents` lets it repeat a request once.
    most: { CUT: 1, OVERFLOW: 2, BALANCE: 2, RATE: 2 },
  },
  { id: "opencode", package: "opencode-ai@1.18.33", words: (prompt) => ["opencode", "run", prompt] },
  { id: "kilo", package: "@kilocode/cli@7.7.7", words: (prompt) => ["kilo", "run", "--auto", prompt] },
  { id: "qwen", package: "@qwen-code/qwen-code@0.24.4", words: (prompt) => ["qwen", "--yolo", "-p", prompt] },
  { id: "cline", package: "cline@3.0.65", words: (prompt) => ["cline", prompt], after: ["cline", "hub", "stop"] },
  { id: "continue", package: "@continuedev/cli@1.5.47", words: (prompt) => ["cn", "--auto", "-p", prompt] },
  { id: "droid", package: "droid@0.215.0", words: (prompt) => ["droid", "exec", "--auto", "high", prompt] },
  { id: "kimi", package: "@moonshot-ai/kimi-code@2.1.0", words: (prompt) => ["kimi", "-p", prompt] },
  { id: "pi", package: "@mariozechner/pi-coding-agent@0.73.1", words: (prompt) => ["pi", "-p", prompt] },
  {
    id: "gemini",
    package: "@google/gemini-cli@0.61.0",
    words: (prompt) => ["gemini", "--skip-trust", "--yolo", "-p", prompt],
    native: "gemini",
    // It shortens a conversation before a prompt and not between the calls of one, so one prompt cannot show it.
    cases: EVERY_CASE.filter((name) => name !== "FULL"),
    // A cut answer is asked for once more, and a refusal for the rate until the window is open again.
    most: { CUT: 2, OVERFLOW: 1, BALANCE: 1, RATE: 6 },
  },
];
