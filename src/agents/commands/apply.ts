// Points agents at the gateway. The gateway is asked before anything is written.

import type { Agent, Connection } from "../agent.ts";
import { agentOf, agents } from "../agents.ts";
import { existingFiles, FileRefused } from "../files/agent-files.ts";
import { apiUrlOf, type CatalogModel, findModel, readCatalog, Refused } from "../gateway.ts";
import { findProgram, type Machine } from "../machine.ts";
import { carryOutPlan, planAgent, type PlannedFile, type WrittenFile } from "../point-agent.ts";
import { printable } from "../printable.ts";
import { problemOf } from "../probe.ts";
import { smallModelFor } from "../small-model.ts";
import { EXIT, programOf, type World } from "../world.ts";
import type { Options } from "../options.ts";

/** An agent, and what is to be changed for it; the reason where nothing can be. */
export type AgentPlan = { readonly agent: Agent; readonly connection: Connection } & (
  | { readonly files: readonly PlannedFile[] }
  | { readonly refused: string }
);

/** `saldo-agents apply`. Errors: Refused, GatewayAway. */
export async function apply(options: Options, world: World): Promise<number> {
  const { key, model } = options;
  if (key === undefined) throw new Refused("A key is needed: -k KEY, or the variable SALDO_API_KEY.");
  if (model === undefined) throw new Refused("A model is needed: -m MODEL.");
  const apiUrl = apiUrlOf(options.baseUrl, options);
  const chosen = options.agents?.map(agentOf) ?? (await foundAgents(world.machine));
  if (chosen.length === 0) throw new Refused("No coding agent is found on this machine: name them with --agents.");
  if (!options.yes && !options.dryRun && world.person === null)
    throw new Refused("Without a terminal, apply needs -y.");
  const models = chosenModels(await readCatalog(apiUrl, key), { ...options, model });
  const plans = await planAll(chosen, { ...options, ...models, apiUrl, key }, world.machine);
  for (const plan of plans) printPlan(plan, world);
  if (options.dryRun) return plans.some((plan) => "refused" in plan) ? EXIT.failed : EXIT.done;
  const hasWork = plans.some((plan) => "files" in plan && plan.files.length > 0);
  if (hasWork && !options.yes && (await world.person?.confirm("Write these changes?")) !== true) {
    world.out("Nothing was written.");
    return EXIT.done;
  }
  return writeAll(plans, world);
}

/** The agents whose program or file is there. */
export async function foundAgents(machine: Machine): Promise<Agent[]> {
  const found = await Promise.all(
    agents.map(
      async (agent) =>
        agent.programs.some((name) => findProgram(machine, name)) || (await existingFiles(agent, machine)).length > 0,
    ),
  );
  return agents.filter((_, index) => found[index]);
}

/** The model that was chosen, and the one for small tasks. Errors: Refused. */
export function chosenModels(
  models: readonly CatalogModel[],
  named: { readonly model: string; readonly smallModel: string | undefined },
): Pick<Connection, "model" | "smallModel"> {
  const model = findModel(models, named.model);
  const { smallModel } = named;
  return { model, smallModel: smallModel === undefined ? smallModelFor(model, models) : findModel(models, smallModel) };
}

type Wanted = Pick<Connection, "apiUrl" | "model" | "smallModel"> & {
  readonly key: string;
  readonly keyEnv: boolean;
  readonly lessTraffic: boolean;
  /** Whether nothing will be written, and no request that costs something is sent. */
  readonly dryRun: boolean;
};

/** The planned changes of each agent. */
export async function planAll(chosen: readonly Agent[], wanted: Wanted, machine: Machine): Promise<AgentPlan[]> {
  return Promise.all(
    chosen.map(async (agent): Promise<AgentPlan> => {
      const isReference = wanted.keyEnv && agent.needsLiteralKey === undefined;
      const { apiUrl, key, model, smallModel, lessTraffic } = wanted;
      const shown = isReference ? null : key;
      const connection = { apiUrl, key: shown, model, smallModel, isTrafficReduced: lessTraffic };
      const unasked = [model, smallModel].find(({ id }) => agent.canAskFor?.(id) === false);
      if (unasked !== undefined)
        return { agent, connection, refused: `it cannot ask for a model called ${unasked.id}.` };
      try {
        const files = await planAgent(agent, connection, machine);
        const isAsked = agent.protocol !== undefined && files.length > 0 && !wanted.dryRun;
        const refused = isAsked ? await problemOf(agent.protocol, { apiUrl, key, model: model.id }) : null;
        return refused === null ? { agent, connection, files } : { agent, connection, refused };
      } catch (error) {
        if (!(error instanceof FileRefused)) throw error;
        return { agent, connection, refused: error.message };
      }
    }),
  );
}

/** Prints what would be changed for an agent. */
export function printPlan(plan: AgentPlan, { out, err }: Pick<World, "out" | "err">): void {
  const { agent } = plan;
  if ("refused" in plan) return err(`${agent.name}: ${printable(plan.refused)}`);
  if (plan.files.length === 0) return out(`${agent.name}: points there already.`);
  for (const { file, edits } of plan.files) {
    const what = file.bytes === null ? "new" : "changes";
    const places = edits.filter(({ kind }) => kind !== "remove").map(({ path }) => path.join("."));
    out(`${agent.name}: ${what} ${printable(file.path)} (${printable([...new Set(places)].join(", "))})`);
  }
}

/** Writes what was planned and prints what was done. */
export async function writeAll(plans: readonly AgentPlan[], world: World): Promise<number> {
  let hasFailed = false;
  const pointed: string[] = [];
  for (const plan of plans) {
    if ("refused" in plan) {
      hasFailed = true;
      continue;
    }
    try {
      const written = await carryOutPlan(plan.files, { ...plan, machine: world.machine }, world.now());
      printWritten(plan, written, world);
      if (written.length > 0) pointed.push(plan.agent.id);
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      hasFailed = true;
      world.err(`${plan.agent.name}: ${printable(error.message)}`);
    }
  }
  if (pointed.length > 0) {
    world.out("Restart the agents that are running: they read their settings when they start.");
    world.out(`To take it back: ${programOf(world)} reset --agents ${pointed.join(",")} -y`);
  }
  return hasFailed ? EXIT.failed : EXIT.done;
}

function printWritten({ agent, connection }: AgentPlan, written: readonly WrittenFile[], { out }: World): void {
  if (written.length === 0) return;
  out(`${agent.name}: uses ${printable(connection.model.id)} at ${connection.apiUrl}`);
  for (const { path, backup } of written) {
    out(`  wrote ${printable(path)}`);
    if (backup !== null) out(`  its old content is in ${printable(backup)}`);
  }
  if (connection.key === null) out("  it reads the key from SALDO_API_KEY: set that where the agent is started");
}
