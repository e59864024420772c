// The agents that can be configured, and those that are waiting for a protocol of the gateway.

import type { Agent } from "./agent.ts";
import { Refused } from "./gateway.ts";
import { claude } from "./known/claude.ts";
import { cline } from "./known/cline.ts";
import { codex } from "./known/codex.ts";
import { continueAgent } from "./known/continue.ts";
import { droid } from "./known/droid.ts";
import { kimi } from "./known/kimi.ts";
import { kilo } from "./known/kilo.ts";
import { opencode } from "./known/opencode.ts";
import { pi } from "./known/pi.ts";
import { qwen } from "./known/qwen.ts";
import { printable } from "./printable.ts";

/** Every agent that can be configured. */
export const agents: readonly Agent[] = [opencode, kilo, qwen, cline, continueAgent, droid, kimi, pi, claude, codex];

/** Agents that speak a protocol the gateway does not serve yet, with its path. */
export const waitingAgents: Readonly<Record<string, string>> = {
  gemini: "/v1beta/models",
};

/** Agents that were named: those that can be configured, and the messages for those that cannot yet. */
export type NamedAgents = { readonly chosen: readonly Agent[]; readonly waiting: readonly string[] };

/** The agents of these ids. Errors: Refused, where an id is unknown or none of them can be configured. */
export function agentsOf(ids: readonly string[]): NamedAgents {
  const chosen = ids.filter((id) => !isWaiting(id)).map(agentOf);
  const waiting = ids
    .filter(isWaiting)
    .map((id) => `${id} needs ${waitingAgents[id]}, which the gateway does not serve yet.`);
  if (chosen.length === 0) throw new Refused(waiting.join("\n"));
  return { chosen, waiting };
}

function isWaiting(id: string): boolean {
  return Object.hasOwn(waitingAgents, id);
}

function agentOf(id: string): Agent {
  const agent = agents.find((each) => each.id === id);
  if (agent !== undefined) return agent;
  throw new Refused(`There is no agent "${printable(id)}" here. There is ${agents.map((each) => each.id).join(", ")}.`);
}
