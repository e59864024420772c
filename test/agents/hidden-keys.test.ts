// The key is never shown, in whichever place of the command line it is put by mistake.

import { afterAll, beforeAll, expect, it } from "vitest";
import { createPerson } from "../../src/agents/wizard.ts";
import { type FakeGateway, KEY, MODEL, newHome, saldoAgents, startGateway } from "./support.ts";
import { pressing } from "./terminal.ts";

/** A key of another gateway, which has no form that it could be known by. */
const OTHER_KEY = "Other.Key-0123_45";
/** A key of ours in part: hiding that part alone would show the rest. */
const LONGER_KEY = `${KEY}.Rest~99`;

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway([{ id: "demo/{env:X}", name: `named ${KEY}` }, { id: `saldo/${KEY}` }]);
});
afterAll(() => gateway.close());

const slots: readonly [string, (key: string) => readonly string[]][] = [
  ["a command", (key) => [key]],
  ["a word behind a command", (key) => ["apply", key]],
  ["an option", (key) => ["apply", `--${key}`]],
  ["a value of a flag", (key) => ["apply", `--yes=${key}`]],
  ["the model", (key) => ["apply", "-k", KEY, "-y", "--agents", "pi", "-m", key]],
  ["a model of the catalog", (key) => ["apply", "-k", KEY, "-y", "--agents", "pi", "-m", `saldo/${key}`]],
  ["an agent", (key) => ["apply", "-k", key, "-m", MODEL, "-y", "--agents", key]],
  ["an agent to reset", (key) => ["reset", "-y", "--agents", key]],
  ["the address", (key) => ["status", "--base-url", key]],
  ["a host", (key) => ["status", "--insecure", "--base-url", `http://${key}`]],
  ["a host over http", (key) => ["doctor", "--base-url", `http://${key}`]],
  ["a path", (key) => ["doctor", "--base-url", `${gateway.url}/${key}`]],
  ["a user", (key) => ["reset", "-y", "--base-url", `https://${encodeURIComponent(key)}@gateway.test`]],
  ["the key of a dry run", (key) => ["apply", "-m", MODEL, "--agents", "pi", "--dry-run", `-k${key}`]],
  ["the key and the model", (key) => ["apply", `--key=${key}`, "-m", key, "--agents", "pi", "-y"]],
];

it.each(slots)("hides a key in the place of %s", async (_, words) => {
  await using home = await newHome();
  for (const key of [KEY, OTHER_KEY, LONGER_KEY]) {
    const base = words(key).includes("--base-url") ? {} : { SALDO_BASE_URL: gateway.url };
    const { out, err } = await saldoAgents(home.path, words(key), { env: { SALDO_API_KEY: key, ...base } });
    const said = (out + err).toLowerCase();
    expect(said).not.toBe("");
    expect(said).not.toContain(key.toLowerCase());
    expect(said).not.toContain("rest~99");
  }
});

it("hides a key in the variable that should hold the address", async () => {
  await using home = await newHome();
  const { code, err } = await saldoAgents(home.path, ["status"], { env: { SALDO_BASE_URL: KEY } });
  expect({ code, err }).toEqual({ code: 2, err: "(a key) is not an address such as https://api.example.com." });
});

it("hides a key also in the words of a fault", async () => {
  await using home = await newHome();
  const { code, err } = await saldoAgents(home.path, ["status", "-k", OTHER_KEY, "--base-url", gateway.url], {
    now: () => new Date(),
    out: () => {
      throw new Error(`cannot print ${KEY} and ${OTHER_KEY}`);
    },
  });
  expect(code).toBe(1);
  expect(err).toContain("fault of saldo-agents: Error: cannot print (a key) and (a key)");
});

it("does not offer a key as the address, nor repeat one that was typed there", async () => {
  await using home = await newHome();
  const { terminal, screen, left } = pressing([
    { at: "Address of the gateway", keys: `https://${KEY}@gateway.test\r` },
    { at: "and nothing else", keys: "\u0003" },
  ]);
  const words = ["--base-url", "https://gw_anotherkey1234"];
  const { code } = await saldoAgents(home.path, words, { person: createPerson(terminal) });
  expect({ code, left }).toEqual({ code: 0, left: [] });
  expect(screen()).not.toContain("gw_anotherkey1234");
});
