// The agents that can be configured.

import type { Agent } from "./agent.ts";
import { Refused } from "./gateway.ts";
import { claude } from "./known/claude.ts";
import { cline } from "./known/cline.ts";
import { codex } from "./known/codex.ts";
import { continueAgent } from "./known/continue.ts";
import { droid } from "./known/droid.ts";
import { gemini } from "./known/gemini.ts";
import { kimi } from "./known/kimi.ts";
import { kilo } from "./known/kilo.ts";
import { opencode } from "./known/opencode.ts";
import { pi } from "./known/pi.ts";
import { qwen } from "./known/qwen.ts";
import { printable } from "./printable.ts";

/** Every agent that can be configured. */
export const agents: readonly Agent[] = [
  opencode,
  kilo,
  qwen,
  cline,
  continueAgent,
  droid,
  kimi,
  pi,
  claude,
  codex,
  gemini,
];

/** The agent of an id. Errors: Refused. */
export function agentOf(id: string): Agent {
  const agent = agents.find((each) => each.id === id);
  if (agent !== undefined) return agent;
  throw new Refused(`There is no agent "${printable(id)}" here. There is ${agents.map((each) => each.id).join(", ")}.`);
}
