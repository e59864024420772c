// Looks for what keeps an agent from working, and prints what to do about it.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { KEY_VARIABLE } from "../agent.ts";
import { existingFiles } from "../files/agent-files.ts";
import { apiUrlOf, GatewayAway, readBalance, readCatalog, Refused } from "../gateway.ts";
import { findProgram, variable } from "../machine.ts";
import { printable, rupiah } from "../printable.ts";
import { EXIT, type World } from "../world.ts";
import type { Options } from "../options.ts";
import { type AgentState, keyIn, readStates } from "./status.ts";

/** The severity of a finding. */
type Finding = { readonly mark: "ok" | "look" | "bad"; readonly text: string };

const OTHERS_MAY_READ = 0o044;

/** `saldo-agents doctor`. Exit code 1 where something is bad. Errors: Refused for an address. */
export async function doctor(options: Options, world: World): Promise<number> {
  const apiUrl = apiUrlOf(options.baseUrl, options);
  const states = await readStates(apiUrl, world.machine);
  const key = options.key ?? keyIn(states);
  const { findings, models } = await lookAtGateway(apiUrl, key);
  for (const state of states) findings.push(...(await lookAtAgent(state, { models, world })));
  for (const { mark, text } of findings) world.out(`${mark.padEnd(4)}  ${printable(text)}`);
  return findings.some(({ mark }) => mark === "bad") ? EXIT.failed : EXIT.done;
}

type Looked = { readonly findings: Finding[]; readonly models: ReadonlySet<string> | null };

async function lookAtGateway(apiUrl: string, key: string | undefined): Promise<Looked> {
  if (key === undefined) {
    return {
      findings: [{ mark: "look", text: `No key to ask ${apiUrl} with: -k KEY or ${KEY_VARIABLE}.` }],
      models: null,
    };
  }
  try {
    const models = new Set((await readCatalog(apiUrl, key)).map(({ id }) => id));
    const findings: Finding[] = [{ mark: "ok", text: `${apiUrl} accepts the key and has ${models.size} models.` }];
    const balance = await readBalance(apiUrl, key);
    const isEmpty = balance !== null && !/[1-9]/.test(balance.replace(/^-.*/, ""));
    if (isEmpty) findings.push({ mark: "bad", text: "The balance is used up: top it up." });
    else if (balance !== null) findings.push({ mark: "ok", text: `The balance is ${rupiah(balance)}.` });
    return { findings, models };
  } catch (error) {
    if (!(error instanceof Refused || error instanceof GatewayAway)) throw error;
    return { findings: [{ mark: "bad", text: error.message }], models: null };
  }
}

async function lookAtAgent(
  state: AgentState,
  { models, world }: { models: Looked["models"]; world: World },
): Promise<Finding[]> {
  const { agent } = state;
  const { machine } = world;
  if ("refused" in state) return [{ mark: "bad", text: `${agent.name}: ${state.refused}` }];
  const program = agent.programs.map((name) => findProgram(machine, name)).find((path) => path !== undefined);
  const { pointing } = state;
  if (pointing === null) {
    return program === undefined ? [] : [{ mark: "look", text: `${agent.name} is here and does not use the gateway.` }];
  }
  const findings: Finding[] = [{ mark: "ok", text: `${agent.name} uses ${pointing.model}.` }];
  const add = (mark: Finding["mark"], text: string) => findings.push({ mark, text: `${agent.name}: ${text}` });
  if (program === undefined) add("look", `the program ${agent.programs.join(" or ")} is not on the PATH.`);
  if (models !== null && !models.has(pointing.model))
    add("bad", `the catalog has no model ${pointing.model}: apply another.`);
  const holdsKey = typeof pointing.key === "string" && /^[\w-]+$/.test(pointing.key) && pointing.key !== KEY_VARIABLE;
  if (!holdsKey && variable(machine, KEY_VARIABLE) === undefined) {
    add("bad", `it reads the key from ${KEY_VARIABLE}, which is not set here.`);
  }
  for (const path of holdsKey && machine.platform !== "win32" ? await existingFiles(agent, machine) : []) {
    const { mode } = await stat(path);
    if ((mode & OTHERS_MAY_READ) !== 0) add("look", `others on this machine can read ${path}: chmod 600 it.`);
  }
  for (const name of agent.overrides.filter((each) => variable(machine, each) !== undefined)) {
    add("look", `the variable ${name} is set and moves or overrides its settings.`);
  }
  for (const name of agent.projectFiles ?? []) {
    const path = join(world.folder, name);
    const isThere = await stat(path)
      .then(() => true)
      .catch(() => false);
    if (isThere) add("look", `${path} counts more than its settings while you work in this folder.`);
  }
  return findings;
}
