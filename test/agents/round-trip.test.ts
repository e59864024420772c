// Every agent from every start: apply, status, apply again, reset. What apply writes lies in golden/, a file for each agent.

import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agents } from "../../src/agents/agents.ts";
import { isRefused, putFiles, type StartState, startStates, usersFiles } from "./start-states.ts";
import { type FakeGateway, KEY, MODEL, newHome, saldoAgents, snapshot, startGateway } from "./support.ts";

const states = Object.keys(startStates) as StartState[];
const ids = agents.map(({ id }) => id);

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const applyWords = (id: string) => ["apply", "-k", KEY, "-m", MODEL, "--agents", id, "-y", "--base-url", gateway.url];
const statusOf = async (home: string, id: string) => {
  const { code, out } = await saldoAgents(home, ["status", "--json", "-k", KEY, "--base-url", gateway.url]);
  const told = JSON.parse(out) as { keyValid: boolean; balance: string; agents: { id: string }[] };
  return { code, ...told, agent: told.agents.find((agent) => agent.id === id) };
};

/** The texts of the agent's files, with everything visible that a diff would hide. */
async function shown(home: string, id: string): Promise<string> {
  const files = Object.keys(usersFiles[id] ?? {});
  const texts = await Promise.all(files.map((path) => readFile(join(home, path), "utf8")));
  return texts
    .map((text) =>
      text
        .replaceAll("\r", "␍")
        .replaceAll("\ufeff", "<BOM>")
        .replaceAll("\t", "→")
        .replaceAll(gateway.url, "{gateway}"),
    )
    .map((text, index) => `--- ${files[index]}\n${text}`)
    .join("");
}

describe.each(ids)("%s", (id) => {
  const golden: string[] = [];
  it.each(states.filter((state) => isRefused(id, state)))("is left alone with: %s", async (state) => {
    await using home = await newHome();
    await putFiles(home.path, id, state);
    const before = await snapshot(home.path);
    const applied = await saldoAgents(home.path, applyWords(id));
    expect(applied).toMatchObject({ code: 1, err: expect.stringContaining("was left as it is") });
    expect(await snapshot(home.path)).toEqual(before);
  });

  it.each(states.filter((state) => !isRefused(id, state)))("goes to the gateway and back from: %s", async (state) => {
    await using home = await newHome();
    await putFiles(home.path, id, state);
    const before = await snapshot(home.path);
    const applied = await saldoAgents(home.path, applyWords(id));
    expect(`${applied.out}${applied.err}`).not.toContain(KEY);
    expect(applied).toMatchObject({ code: 0, err: "" });
    golden.push(`=== ${state}\n${await shown(home.path, id)}`);
    expect(await statusOf(home.path, id)).toMatchObject({
      code: 0,
      keyValid: true,
      balance: "1234.5",
      agent: { id, configured: true, model: MODEL },
    });
    const between = await snapshot(home.path);
    for (const path of Object.keys(usersFiles[id] ?? {})) {
      expect(between[path]?.mode ?? 0o600).toBe(before[path]?.mode ?? 0o600);
      expect((await lstat(join(home.path, path))).isSymbolicLink()).toBe(state === "symlink");
    }
    expect(await saldoAgents(home.path, applyWords(id))).toMatchObject({
      code: 0,
      out: expect.stringContaining("already"),
    });
    expect(await snapshot(home.path)).toEqual(between);
    expect(await saldoAgents(home.path, ["reset", "-y", "--base-url", gateway.url])).toMatchObject({
      code: 0,
      err: "",
    });
    expect(await snapshot(home.path)).toEqual(before);
    // Nor a folder of the agent's. That of all settings may stay: our own memory was there.
    const left = state === "no file" ? await readdir(home.path, { recursive: true }) : [];
    expect([[], [".config"]]).toContainEqual(left);
    expect((await statusOf(home.path, id)).agent).toMatchObject({ configured: false, model: null });
  });

  it("writes what lies in golden/", async () => {
    expect(golden.length).toBeGreaterThan(7);
    await expect(golden.join("\n")).toMatchFileSnapshot(`golden/${id}.txt`);
  });

  const editable = (["another provider", "comments", "tabs", "CRLF", "mixed line ends"] as const).filter(
    (state) => !isRefused(id, state),
  );
  it.each(editable)("keeps what the user writes between apply and reset, from: %s", async (state) => {
    await using home = await newHome();
    await using other = await newHome();
    await putFiles(home.path, id, state);
    await putFiles(other.path, id, state);
    await saldoAgents(home.path, applyWords(id));
    for (const path of Object.keys(usersFiles[id] ?? {})) {
      for (const each of [home.path, other.path])
        await writeFile(join(each, path), edited(await readFile(join(each, path), "utf8")));
    }
    expect(await saldoAgents(home.path, ["reset", "-y", "--agents", id])).toMatchObject({ code: 0, err: "" });
    for (const path of Object.keys(usersFiles[id] ?? {})) {
      expect(await readFile(join(home.path, path), "utf8")).toBe(await readFile(join(other.path, path), "utf8"));
    }
  });
});

/** The text with a setting of the user's own, written at its beginning. */
function edited(text: string): string {
  if (text.startsWith("{")) return text.replace(/\{(\r?\n)/, '{$1  "mine": true,$1');
  return /^(default_)?model = /m.test(text) ? `mine = true\n${text}` : `mine: true\n${text}`;
}
