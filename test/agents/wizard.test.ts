// The wizard from the first question to the last, with the keys a person presses and the screen a person sees.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPerson } from "../../src/agents/wizard.ts";
import { putFiles } from "./start-states.ts";
import { type FakeGateway, KEY, newHome, saldoAgents, snapshot, startGateway } from "./support.ts";
import { pressing } from "./terminal.ts";

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway([{ id: "demo/large", name: "Demo Large" }]);
});
afterAll(() => gateway.close());

const ENTER = "\r";
const DOWN = "\u001b[B";
const ESCAPE = "\u001b";

const untilKey = [
  { at: "Address of the gateway", keys: ENTER },
  { at: "Key (it is not shown)", keys: `gw_wrong${ENTER}` },
  { at: "Key (it is not shown)", keys: `${KEY}${ENTER}` },
];

it("asks for address, key, model and agents, shows the changes and makes them", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "comments");
  const { terminal, screen, left } = pressing([
    ...untilKey,
    { at: "demo/large", keys: DOWN },
    { at: "● demo/large", keys: ENTER },
    { at: "Kimi Code (found)", keys: ENTER },
    { at: "Write these changes?", keys: ENTER },
  ]);
  const person = createPerson(terminal);
  const { code, out, err } = await saldoAgents(home.path, [], { person, servedBy: gateway.url });
  expect(left).toEqual([]);
  expect({ code, err }).toEqual({ code: 0, err: "The gateway does not accept this key." });
  expect(screen()).toMatch(/demo\/large\s+131k tokens, per 1M Rp 5\.000 in, Rp 15\.000,5 out/);
  expect(screen() + out).not.toContain(KEY);
  expect(out).toContain("Its balance is Rp 1.234,5.");
  expect(out).toContain("Kimi Code: changes");
  expect(await readFile(join(home.path, ".kimi-code/config.toml"), "utf8")).toContain(
    'default_model = "saldo/demo/large" # kept',
  );
});

it.each([
  ["a question", { at: "demo/large", keys: ESCAPE }, []],
  [
    "the last one",
    { at: "demo/large", keys: ENTER },
    [
      { at: "Kimi Code (found)", keys: ENTER },
      { at: "Write these changes?", keys: `n${ENTER}` },
    ],
  ],
])("leaves everything as it was when a person leaves %s", async (_, next, rest) => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "comments");
  const before = await snapshot(home.path);
  const { terminal, screen, left } = pressing([...untilKey, next, ...rest]);
  const { code } = await saldoAgents(home.path, [], { person: createPerson(terminal), servedBy: gateway.url });
  expect({ code, left }).toEqual({ code: 0, left: [] });
  expect(screen()).toContain("Nothing was written.");
  expect(await snapshot(home.path)).toEqual(before);
});
