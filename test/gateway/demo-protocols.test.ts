// The models of the demo as a client of each protocol meets them: a visitor may try any agent with them.

import { afterAll, describe, expect, it } from "vitest";
import type { Json } from "./fakes/anthropic-wire.ts";
import type { Asked, Given, MatrixClient } from "./matrix-client.ts";
import { MATRIX_CLIENTS } from "./matrix-clients.ts";
import { DEMO_MODELS, DEMO_UPSTREAM, openBench } from "./support.ts";

const bench = openBench({ models: DEMO_MODELS, upstreams: [DEMO_UPSTREAM] });
afterAll(() => bench.upstreams.close());

const CITY = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer", minimum: 7 } },
  required: ["city", "people"],
  additionalProperties: false,
};
const TOOLS = ["look", "see"];

const pairs = MATRIX_CLIENTS.flatMap((client) =>
  DEMO_MODELS.map(({ id }) => ({ client, id, name: `${client.name} with ${id}` })),
);

describe.each(pairs)("$name", ({ client, id }) => {
  const ask = async (body: Json, stream: boolean): Promise<Given> => {
    const given = await client.send(bench, body, { model: id, stream });
    expect(given).toMatchObject({ outcome: "answered", error: null });
    expect(bench.ledger.settlements.at(-1)).toMatchObject({ basis: "exact", clamped: false });
    return given;
  };
  const shown = async (asked: Omit<Asked, "model">): Promise<ReturnType<MatrixClient["shown"]>> =>
    client.shown(await ask(client.bodyOf({ model: id, ...asked }), asked.stream));

  it.each([true, false])("answers, streamed: %s", async (stream) => {
    const { text, finish, usage } = await shown({ said: "Good morning", stream });
    expect(text).toMatch(id === "demo/echo" ? /^Good morning$/ : /^This is the demo model/);
    expect([finish, usage?.input]).toEqual(["stop", expect.any(Number)]);
  });

  it.each([true, false])("answers in the form of a schema, streamed: %s", async (stream) => {
    const { text } = await shown({ said: "Which city?", stream, schema: CITY });
    expect(JSON.parse(text)).toEqual({ city: expect.any(String), people: 7 });
  });

  it.each([true, false])("calls tools at once, and answers about their results, streamed: %s", async (stream) => {
    const body = client.bodyOf({ model: id, said: "!tools=2", stream, tools: TOOLS });
    const { calls, finish } = client.shown(await ask(body, stream));
    expect([calls.map(({ name }) => name), finish]).toEqual([TOOLS, "calls"]);
    const whole = client.bodyOf({ model: id, said: "!tools=2", stream: false, tools: TOOLS });
    const [answer = {}] = (await ask(whole, false)).parts;
    const next = client.goOn(whole, answer, (call) => `result ${call}`);
    expect(client.shown(await ask(next, false)).text).toMatch(/2 tools returned: .*result 0/);
  });

  it.each([true, false])("thinks where it is asked to, streamed: %s", async (stream) => {
    const { reasoning, usage } = await shown({ said: "!think Why?", stream, thinks: true });
    expect(reasoning).toMatch(/^Thought 1 is about/);
    expect(usage?.reasoning).toBeGreaterThan(5);
  });

  it("reads the beginning of a conversation from its cache", async () => {
    const asked = { said: "Go on", stream: false, system: `${client.name} ${id} ${"Be brief. ".repeat(20)}` };
    expect((await shown(asked)).usage?.cached).toBe(0);
    expect((await shown({ ...asked, said: "And on" })).usage?.cached).toBeGreaterThan(20);
  });
});
