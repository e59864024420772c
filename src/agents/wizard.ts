// The questions to a person at a terminal. Leaving a question changes nothing.

import type { Readable, Writable } from "node:stream";
import { confirm, intro, isCancel, multiselect, outro, password, select, text } from "@clack/prompts";
import type { Agent } from "./agent.ts";
import { agentOf, agents } from "./agents.ts";
import { chosenModels, foundAgents, planAll, printPlan, writeAll } from "./commands/apply.ts";
import { apiUrlOf, type CatalogModel, GatewayAway, readBalance, readCatalog, Refused } from "./gateway.ts";
import { withoutKeys } from "./hidden-keys.ts";
import { printable, rupiah } from "./printable.ts";
import { EXIT, type Person, type World } from "./world.ts";
import type { Options } from "./options.ts";

/** The streams of a terminal. */
export type Terminal = { readonly input: Readable; readonly output: Writable };

/** A key that is not accepted may be typed again so many times. */
const MOST_KEYS = 3;
const SHOWN_MODELS = 12;

/** Thrown when a person leaves a question. */
class Left extends Error {}

/** A person at a terminal, who can be asked. */
export function createPerson(terminal: Terminal): Person {
  return {
    async confirm(question) {
      const answer = await confirm({ ...terminal, message: question });
      return answer === true;
    },
    async wizard(options, world) {
      try {
        return await ask(options, world, terminal);
      } catch (error) {
        if (!(error instanceof Left)) throw error;
        outro("Nothing was written.", terminal);
        return EXIT.done;
      }
    },
  };
}

async function ask(options: Options, world: World, terminal: Terminal): Promise<number> {
  intro("Saldo for coding agents", terminal);
  const apiUrl = await askAddress(options, terminal);
  const { key, models } = await askKey(apiUrl, { options, world, terminal });
  const model = options.model ?? (await askModel(models, terminal));
  const connected = chosenModels(models, { ...options, model });
  const chosen = (options.agents ?? (await askAgents(world, terminal))).map(agentOf);
  const lessTraffic = options.lessTraffic || (await askTraffic(chosen, terminal));
  const plans = await planAll(chosen, { ...options, ...connected, apiUrl, key, lessTraffic }, world.machine);
  for (const plan of plans) printPlan(plan, world);
  const hasWork = plans.some((plan) => "files" in plan && plan.files.length > 0);
  if (hasWork && !options.dryRun) {
    const isAgreed = answered(await confirm({ ...terminal, message: "Write these changes?" }));
    if (!isAgreed) throw new Left();
    const code = await writeAll(plans, world);
    outro(code === EXIT.done ? "Done." : "Not all of it could be done.", terminal);
    return code;
  }
  outro("Nothing was written.", terminal);
  return plans.some((plan) => "refused" in plan) ? EXIT.failed : EXIT.done;
}

async function askAddress(options: Options, terminal: Terminal): Promise<string> {
  const answer = answered(
    await text({
      ...terminal,
      message: "Address of the gateway",
      initialValue: withoutKeys(options.baseUrl) === options.baseUrl ? options.baseUrl : "",
      validate: (address) => problemWith(() => apiUrlOf(address ?? "", options)),
    }),
  );
  return apiUrlOf(answer, options);
}

type Asked = { readonly options: Options; readonly world: World; readonly terminal: Terminal };

async function askKey(
  apiUrl: string,
  { options, world, terminal }: Asked,
): Promise<{ key: string; models: CatalogModel[] }> {
  let known = options.key;
  for (let number = 1; ; number += 1) {
    const key: string =
      known ?? answered(await password({ ...terminal, message: "Key (it is not shown)", validate: missing }));
    try {
      const models = await readCatalog(apiUrl, key);
      const balance = await readBalance(apiUrl, key);
      world.out(balance === null ? "The key is accepted." : `The key is accepted. Its balance is ${rupiah(balance)}.`);
      return { key, models };
    } catch (error) {
      if (!(error instanceof Refused) || error instanceof GatewayAway || number >= MOST_KEYS) throw error;
      world.err(error.message);
      known = undefined;
    }
  }
}

async function askModel(models: readonly CatalogModel[], terminal: Terminal): Promise<string> {
  if (models.length === 0) throw new Refused("The gateway has no model for this key.");
  const width = Math.max(...models.map(({ id }) => printable(id).length));
  const choices = models.map(({ id, contextLength, price }) => ({
    value: id,
    // Not as hints, which are shown for the chosen line only: prices are there to be compared.
    label: `${printable(id).padEnd(width)}  ${factsOf(contextLength, price)}`,
  }));
  return answered(await select({ ...terminal, message: "Model", options: choices, maxItems: SHOWN_MODELS }));
}

function factsOf(contextLength: number, price: CatalogModel["price"]): string {
  const context = `${Math.round(contextLength / 1000)}k tokens`;
  if (price === null) return context;
  return `${context}, per 1M ${rupiah(printable(price.input))} in, ${rupiah(printable(price.output))} out`;
}

async function askAgents({ machine }: World, terminal: Terminal): Promise<string[]> {
  const found = (await foundAgents(machine)).map(({ id }) => id);
  return answered(
    await multiselect({
      ...terminal,
      message: "Agents (space chooses; those found on this machine are chosen)",
      options: agents.map(({ id, name }) => ({
        value: id,
        label: name,
        ...(found.includes(id) ? { hint: "found" } : {}),
      })),
      initialValues: found,
      required: true,
    }),
  );
}

/** Whether traffic that answers do not need is to be turned off; not unless the person wants it. */
async function askTraffic(chosen: readonly Agent[], terminal: Terminal): Promise<boolean> {
  const extra = chosen.flatMap(({ extraTraffic }) => extraTraffic ?? []);
  if (extra.length === 0) return false;
  return answered(await confirm({ ...terminal, message: `Turn off ${extra.join("; ")}?`, initialValue: false }));
}

function answered<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (isCancel(answer)) throw new Left();
  return answer as Exclude<Answer, symbol>;
}

function missing(key: string | undefined): string | undefined {
  return key === undefined || key === "" ? "A key begins with gw_" : undefined;
}

function problemWith(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    // The prompt shows this message itself, past the output that hides keys.
    if (error instanceof Refused) return withoutKeys(error.message);
    throw error;
  }
}
