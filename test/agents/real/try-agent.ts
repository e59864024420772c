// One agent through its cases: configured by saldo-agents, each prompt checked against what the model reported and what Saldo
// charged, and reset at the end.

import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Counter, startCounter } from "./counter.ts";
import type { OwnCase, RealAgent } from "./agent-list.ts";
import { type Ended, execute, expectDone } from "./execute.ts";
import { chargeFor, MODEL, nativeModel, type OwnGateway, type UsageRecord } from "./own-gateway.ts";
import { type CaseName, LAST_WORD, type Script, type Seen } from "./script.ts";

const PROGRAM = fileURLToPath(new URL("../../../src/agents/main.ts", import.meta.url));
const WITHIN_MS = 240_000;
const SETTLED_WITHIN_MS = 20_000;
const POLL_MS = 250;
/** Requests a minute: two are saldo-agents' own. */
const RATE_LIMIT = 3;
const CREDIT = "100000";

/** A case of an agent and how it went; null problem: as it should. */
export type Outcome = {
  readonly agent: string;
  readonly name: string;
  readonly problem: string | null;
  readonly about: string;
};

/** `programs`: the folder of the agents' programs, each in a folder of its id. `scratch`: where each gets its home and its project. */
type Place = {
  readonly gateway: OwnGateway;
  readonly script: Script;
  readonly programs: string;
  readonly scratch: string;
};
type Setup = Place & { readonly agent: RealAgent; readonly folder: string; readonly env: Record<string, string> };
type AnyCase = CaseName | OwnCase;
/** A case, and the model it is tried with. */
type Trial = { readonly name: AnyCase; readonly model: string; readonly isNative: boolean };

/** Tries an agent. */
export async function tryAgent(agent: RealAgent, place: Place): Promise<Outcome[]> {
  const home = join(place.scratch, "homes", agent.id);
  const folder = join(place.scratch, "projects", agent.id);
  for (const each of [home, folder]) await mkdir(each, { recursive: true });
  const { PATH: path = "" } = process.env;
  // The agents run on this Node, which may not be the one on the PATH.
  const tools = [join(place.programs, agent.id, "node_modules/.bin"), dirname(process.execPath), path].join(delimiter);
  // Nothing of the caller's but the folders of programs: the key reaches the agents by their files alone.
  const env = { PATH: tools, HOME: home, CI: "1", NO_COLOR: "1", ...agent.env };
  const setup = { ...place, agent, folder, env };
  const outcomes: Outcome[] = [];
  for (const trial of trialsOf(agent)) {
    const result = await tryCase(setup, trial).catch((error: unknown) => ({ problem: String(error), about: "" }));
    const outcome = { agent: agent.id, name: `${trial.name}${trial.isNative ? " native" : ""}`, ...result };
    outcomes.push(outcome);
    process.stdout.write(`${line(outcome)}\n`);
  }
  return outcomes;
}

/** The cases at an upstream of chat, then those at one of the agent's own protocol. */
function trialsOf({ cases = [], native, shortModel = MODEL }: RealAgent): Trial[] {
  const names: readonly AnyCase[] = ["TEXT", "TOOL", ...cases];
  const trials = names.map((name) => ({ name, model: name === "FULL" ? shortModel : MODEL, isNative: false }));
  if (native === undefined) return trials;
  // The room of a model and the window of a key are the same in every protocol.
  const own = names.filter((name) => name !== "FULL" && name !== "RATE");
  return [...trials, ...own.map((name) => ({ name, model: nativeModel(native), isNative: true }))];
}

/** An outcome as a line of a table. */
export function line({ agent, name, problem, about }: Outcome): string {
  return `${agent.padEnd(10)} ${name.padEnd(15)} ${problem === null ? "ok    " : "FAILED"} ${about}${problem === null ? "" : `\n${problem}`}`;
}

type Result = Pick<Outcome, "problem" | "about">;

async function tryCase(setup: Setup, trial: Trial): Promise<Result> {
  const { gateway, script, agent, folder, env } = setup;
  const { name } = trial;
  const { accountId, key } = await gateway.customer(
    name === "BALANCE" ? "0" : CREDIT,
    name === "RATE" ? RATE_LIMIT : 0,
  );
  const running = { cwd: folder, env, withinMs: WITHIN_MS };
  const target = ["-m", trial.model, "--agents", agent.id, "-y"];
  await using counter = await openCounter(gateway.url);
  const own = (words: readonly string[]) => [process.execPath, PROGRAM, ...words, "--base-url", counter.url];
  script.seen.length = 0;
  await expectDone(own(["apply", ...target]), { ...running, env: { ...env, SALDO_API_KEY: key } });
  if (name === "RATE") await useUp(gateway.url, key);
  const probes = counter.statuses.length;
  const interrupted = name === "CANCEL" ? script.begun() : undefined;
  const ended = await execute(agent.words(`CASE-${name}: answer me, please.`), {
    ...running,
    ...(interrupted === undefined ? {} : { interrupted }),
  });
  if (agent.after !== undefined) await expectDone(agent.after, running);
  await expectDone(own(["reset", "-y", "--agents", agent.id]), running);
  const seen = [...script.seen];
  const records = await settledRecords(gateway, { accountId, count: seen.filter(isCharged).length });
  const problems = [
    ...shownProblems(agent, { name, ended, seen }),
    ...mostProblems(setup, name, counter.statuses.slice(probes)),
    ...billProblems(seen, records),
    ...(trial.isNative ? nativeProblems(trial, seen) : []),
  ];
  const held = await gateway.held(accountId);
  if (Number(held) !== 0) problems.push(`Rp ${held} are still held`);
  const sums = records.map(({ charge }) => charge).join(" + ") || "0";
  const about = `answered ${counter.statuses.join(" ")}; ${records.length} charged: Rp ${sums}`;
  const said =
    problems.length === 0
      ? null
      : `${problems.join("\n")}\n--- it ended with ${ended.code}\n${ended.output.slice(-2_000)}`;
  return { about, problem: said };
}

/** Uses up what the key may ask within the minute. */
async function useUp(url: string, key: string): Promise<void> {
  for (let status = 200; status !== 429;) {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await response.body?.cancel();
    ({ status } = response);
  }
}

/** An answer that has begun is charged; a refusal is not. */
function isCharged({ name, truth }: Seen): boolean {
  return truth !== null || name === "CANCEL" || name === "CUT";
}

async function openCounter(url: string): Promise<Counter & AsyncDisposable> {
  const counter = await startCounter(url);
  return { ...counter, [Symbol.asyncDispose]: () => counter.close() };
}

async function settledRecords(
  gateway: OwnGateway,
  { accountId, count }: { accountId: string; count: number },
): Promise<UsageRecord[]> {
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const records = await gateway.records(accountId);
    const isSettled = records.length >= count && Number(await gateway.held(accountId)) === 0;
    if (isSettled || Date.now() > deadline) return records;
    await pause(POLL_MS);
  }
}

type Played = { readonly name: AnyCase; readonly ended: Ended; readonly seen: readonly Seen[] };

function shownProblems({ stopsAtCut = false }: RealAgent, { name, ended, seen }: Played): string[] {
  const { code, output } = ended;
  if (name === "CUT" && stopsAtCut) return code === 0 ? ["it did not stop"] : [];
  if (name === "CANCEL") {
    const isAsked = seen.some((each) => each.name === "CANCEL");
    return isAsked ? [] : ["the model was not asked"];
  }
  if (name === "BALANCE") return /balance/i.test(output) ? [] : ["the reason is not shown"];
  if (name === "OVERFLOW")
    return /too long|context|room|maximum number of tokens/i.test(output) ? [] : ["the reason is not shown"];
  if (name === "FULL" && !seen.some(isShortening)) return ["the conversation was not shortened"];
  const marks = name === "TOOL" ? ["MARK-1-42"] : name === "PARALLEL" ? ["MARK-1-42", "MARK-2-42"] : [];
  const missing = [LAST_WORD, ...marks].filter((word) => !output.includes(word));
  if (code !== 0) return [`it ended with ${code}`];
  return missing.map((word) => `${word} is not shown`);
}

/** Whether a request asks for a summary of the conversation. */
function isShortening({ asked }: Seen): boolean {
  return /summar/i.test(asked.lastTurn);
}

function mostProblems({ agent }: Setup, name: AnyCase, statuses: readonly number[]): string[] {
  const most = agent.most?.[name] ?? Infinity;
  return statuses.length <= most ? [] : [`${statuses.length} requests of at most ${most}`];
}

/** Every answer whose counts the model reported is charged for these counts, and nothing else is charged but by an estimate. */
function billProblems(seen: readonly Seen[], records: readonly UsageRecord[]): string[] {
  const expected = seen
    .flatMap(({ truth, asked }) => (truth === null ? [] : [chargeFor(truth, asked.model)]))
    .toSorted();
  const exact = records.filter(({ basis }) => basis === "exact" || basis === "drained");
  const charged = exact.map(({ charge }) => charge).toSorted();
  const problems = [];
  if (charged.join() !== expected.join()) problems.push(`charged ${charged.join(", ")} and not ${expected.join(", ")}`);
  // A refusal of the model has a record, too.
  const others = records.filter((record) => !exact.includes(record) && record.basis !== "free");
  const unknown = seen.filter((each) => isCharged(each) && each.truth === null).length;
  if (others.length > unknown) problems.push(`${others.length} records by an estimate: ${JSON.stringify(others)}`);
  if (others.some(({ charge }) => Number(charge) <= 0)) problems.push("an answer that was cut or left is free");
  return problems;
}

/** What only bytes that pass can keep: what a model wants back of its thoughts, and the marks of its prompt cache. */
function nativeProblems({ name }: Trial, seen: readonly Seen[]): string[] {
  if (name !== "TOOL" && name !== "PARALLEL") return [];
  const turns = seen.filter((each) => each.name === name);
  const given = turns.flatMap((each) => each.given ?? []);
  const last = turns.at(-1)?.asked.turns ?? "";
  const problems = given.filter((text) => !last.includes(text)).map((text) => `${text} did not come back`);
  if (given.length === 0) problems.push("the model did not think");
  if (!turns.some(({ truth }) => (truth?.cached ?? 0) > 0)) problems.push("nothing was read from the prompt cache");
  return problems;
}
