// Which agents use the gateway, and whether their key is good.

import type { Agent, Pointing } from "../agent.ts";
import { agents } from "../agents.ts";
import { ownedBy } from "../change.ts";
import { FileRefused, openFiles } from "../files/agent-files.ts";
import { apiUrlOf, GatewayAway, readBalance, readCatalog, Refused } from "../gateway.ts";
import type { Machine } from "../machine.ts";
import { printable, printableJson, rupiah } from "../printable.ts";
import { EXIT, type World } from "../world.ts";
import type { Options } from "../options.ts";

/** The gateway and model that an agent points at; null: elsewhere. The reason where its files cannot be read. */
export type AgentState = { readonly agent: Agent } & (
  | { readonly pointing: Pointing | null }
  | { readonly refused: string }
);

/** `saldo-agents status`. Errors: Refused for an address. */
export async function status(options: Options, world: World): Promise<number> {
  const apiUrl = apiUrlOf(options.baseUrl, options);
  const states = await readStates(apiUrl, world.machine);
  const key = options.key ?? keyIn(states);
  const { keyValid, balance, problem } = await askAbout(apiUrl, key);
  const rows = states.map((state) => {
    const pointing = "pointing" in state ? state.pointing : null;
    return { id: state.agent.id, configured: pointing !== null, model: pointing?.model ?? null };
  });
  if (options.json) world.out(printableJson({ keyValid, balance, agents: rows }));
  else {
    const width = Math.max(...rows.map(({ id }) => id.length));
    for (const { id, model } of rows) world.out(`${id.padEnd(width)}  ${model === null ? "-" : printable(model)}`);
    const verdicts = { true: "is accepted", false: "is not accepted", null: "is not known to be good or bad" };
    world.out(`The key ${key === undefined ? "is not given" : verdicts[`${keyValid}`]}.`);
    if (balance !== null) world.out(`The balance is ${rupiah(balance)}.`);
  }
  if (problem !== null) world.err(problem);
  const refusals = states.flatMap((state) => ("refused" in state ? [`${state.agent.name}: ${state.refused}`] : []));
  for (const refusal of refusals) world.err(printable(refusal));
  if (keyValid === false) return EXIT.refused;
  return refusals.length > 0 || problem !== null ? EXIT.failed : EXIT.done;
}

/** The state of every agent, seen from this gateway. */
export async function readStates(apiUrl: string, machine: Machine): Promise<AgentState[]> {
  const isOurs = ownedBy([apiUrl]);
  return Promise.all(
    agents.map(async (agent): Promise<AgentState> => {
      try {
        const pointing = agent.read((await openFiles(agent, machine)).map(({ root }) => root));
        return { agent, pointing: pointing !== null && isOurs(pointing.address) ? pointing : null };
      } catch (error) {
        if (!(error instanceof FileRefused)) throw error;
        return { agent, refused: error.message };
      }
    }),
  );
}

/** The key in an agent's file, for asking the gateway that the file names. */
export function keyIn(states: readonly AgentState[]): string | undefined {
  return states
    .map((state) => ("pointing" in state ? state.pointing?.key : undefined))
    .find((key): key is string => typeof key === "string" && /^[\w-]+$/.test(key));
}

/** The gateway's answer about a key; null where it was not asked or did not answer. */
export async function askAbout(apiUrl: string, key: string | undefined) {
  const unknown = { keyValid: null, balance: null };
  if (key === undefined) return { ...unknown, problem: null };
  try {
    await readCatalog(apiUrl, key);
    return { keyValid: true, balance: await readBalance(apiUrl, key), problem: null };
  } catch (error) {
    if (error instanceof Refused) return { keyValid: false, balance: null, problem: error.message };
    if (error instanceof GatewayAway) return { ...unknown, problem: error.message };
    throw error;
  }
}
