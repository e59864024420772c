// The agents that can be configured, and those that are waiting for a protocol of the gateway.

import type { Agent } from "./agent.ts";
import { Refused } from "./gateway.ts";
import { cline } from "./known/cline.ts";
import { continueAgent } from "./known/continue.ts";
import { droid } from "./known/droid.ts";
import { kimi } from "./known/kimi.ts";
import { kilo } from "./known/kilo.ts";
import { opencode } from "./known/opencode.ts";
import { pi } from "./known/pi.ts";
import { qwen } from "./known/qwen.ts";

/** Every agent that chat completions are enough for. */
export const agents: readonly Agent[] = [opencode, kilo, qwen, cline, continueAgent, droid, kimi, pi];

/** Agents that speak a protocol the gateway does not serve yet, with its path. */
export const waitingAgents: Readonly<Record<string, string>> = {
  codex: "/v1/responses",
  claude: "/v1/messages",
};

/** The agents of these ids. Errors: Refused. */
export function agentsOf(ids: readonly string[]): Agent[] {
  return ids.map((id) => {
    const path = Object.hasOwn(waitingAgents, id) ? waitingAgents[id] : undefined;
    if (path !== undefined) throw new Refused(`${id} needs ${path}, which the gateway does not serve yet.`);
    const agent = agents.find((each) => each.id === id);
    if (agent === undefined)
      throw new Refused(`There is no agent "${id}" here. There is ${agents.map((each) => each.id).join(", ")}.`);
    return agent;
  });
}
