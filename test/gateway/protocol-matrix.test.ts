// Every protocol of clients at every kind of upstream: what the client is shown, and that it is billed what the upstream charges.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ValidationError } from "../../src/kernel/errors.ts";
import { askAndCompare, type Pair } from "./matrix-ask.ts";
import type { Asked, Given } from "./matrix-client.ts";
import { MATRIX_CLIENTS } from "./matrix-clients.ts";
import { MATRIX_UPSTREAMS, matrixModel, startMatrix } from "./matrix-upstreams.ts";

let matrix: Awaited<ReturnType<typeof startMatrix>>;
beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(async () => {
  await matrix.stop();
  process.stdout.write(tableOf(pairs.map(({ client, upstream }) => `${client.name} ${upstream.protocol}`)));
});

/** What each case cost, in rupiah, by case and pair. */
const charges = new Map<string, Map<string, string>>();

function note({ client, upstream }: Pick<Pair, "client" | "upstream">, name: string, rupiah: string): void {
  const row = charges.get(name) ?? new Map<string, string>();
  charges.set(name, row.set(`${client.name} ${upstream.protocol}`, rupiah));
}

function tableOf(names: readonly string[]): string {
  const line = (cells: readonly string[]): string => cells.map((cell) => cell.padEnd(11)).join(" ");
  const heads = [0, 1].map((part) => `${" ".repeat(24)} ${line(names.map((name) => name.split(" ")[part] ?? ""))}`);
  const rows = [...charges].map(([name, row]) => {
    return `${name.padEnd(24)} ${line(names.map((pair) => row.get(pair) ?? "-"))}`;
  });
  return `${[...heads, ...rows].join("\n")}\n`;
}

/** Asks, and requires that the last charge, and the usage that is shown, are what the upstream counted. */
async function askExactly(pair: Pair, name: string, body: object, stream: boolean): Promise<Given> {
  const { given, costIdr } = await askAndCompare(matrix, pair, { body, stream });
  note(pair, `${name}${stream ? ", streamed" : ""}`, costIdr);
  return given;
}

const pairs = MATRIX_CLIENTS.flatMap((client) =>
  MATRIX_UPSTREAMS.map((upstream) => ({ client, upstream, name: `${client.name} at ${upstream.kind}` })),
);
const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
/** A picture of one pixel. */
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WORDS = 'Hello "you", é\u{1F642}.';
const SYSTEM = "Be brief. ".repeat(600);
const TOOLS = ["look", "see", "wait"];

describe.each(pairs)("$name", ({ client, upstream }) => {
  const { kind } = upstream;
  const pair = (): Pair => ({ client, upstream, bench: matrix.open(matrixModel(kind)) });
  const bodyOf = (asked: Omit<Asked, "model">) => client.bodyOf({ model: `acme/${kind}`, ...asked });
  const wholeOf = ({ parts: [answer] }: Given) => answer ?? {};

  it.each([true, false])("has the model's text, streamed: %s", async (stream) => {
    const given = await askExactly(pair(), "text", bodyOf({ said: WORDS, stream }), stream);
    expect(client.shown(given)).toMatchObject({ text: WORDS, reasoning: "", calls: [], finish: "stop" });
  });

  it.each([true, false])("ends at the cap, streamed: %s", async (stream) => {
    const given = await askExactly(pair(), "cap", bodyOf({ said: "!tokens=90", stream, cap: 30 }), stream);
    expect(client.shown(given)).toMatchObject({ text: " word".repeat(30), finish: "length" });
  });

  it.each([true, false])("calls a tool, streamed: %s", async (stream) => {
    const body = bodyOf({ said: "!call", stream, tools: TOOLS });
    const given = await askExactly(pair(), "tool", body, stream);
    expect(client.shown(given)).toMatchObject({
      calls: [{ name: "look", input: { at: 0, text: "é\u{1F642}" } }],
      finish: "calls",
    });
  });

  it.each([true, false])("calls tools at once, streamed: %s", async (stream) => {
    const given = await askExactly(pair(), "tools at once", bodyOf({ said: "!callall", stream, tools: TOOLS }), stream);
    const { calls, finish } = client.shown(given);
    expect(calls.map(({ name }) => name)).toEqual(TOOLS);
    expect(calls[1]?.input).toEqual({ at: 1, text: "é\u{1F642}" });
    expect(finish).toBe("calls");
  });

  it("takes the results of calls in another order", async () => {
    const { bench } = pair();
    const body = bodyOf({ said: "!callall", stream: false, tools: TOOLS });
    const called = await askExactly({ client, upstream, bench }, "calls", body, false);
    const next = client.goOn(body, wholeOf(called), (call) => `result ${call}`);
    const given = await askExactly({ client, upstream, bench }, "results", next, false);
    expect(client.shown(given).text).toMatch(/^result [0-2]$/);
  });

  it.each([true, false])("shows what the model thinks, streamed: %s", async (stream) => {
    const body = bodyOf({ said: "!think", stream, thinks: true });
    const given = await askExactly(pair(), "thinking", body, stream);
    expect(client.shown(given)).toMatchObject({ text: "!think", usage: { reasoning: 23 } });
    expect(client.shown(given).reasoning).toContain("Two steps.");
  });

  it("gives a provider its thoughts back, with the results of calls", async () => {
    const { bench } = pair();
    const body = bodyOf({ said: "!think !call", stream: false, thinks: true, tools: TOOLS });
    const called = await askExactly({ client, upstream, bench }, "thinking, call", body, false);
    const next = client.goOn(body, wholeOf(called), () => "done");
    expect(client.shown(await askExactly({ client, upstream, bench }, "thinking, result", next, false)).text).toBe(
      "done",
    );
    expect(matrix.askedOf(kind)).toMatch(upstream.sealed);
  });

  it.each([true, false])("shows the model a picture, streamed: %s", async (stream) => {
    const body = bodyOf({ said: "!tokens=3", stream, picture: PICTURE });
    const given = await askExactly(pair(), "picture", body, stream);
    expect(client.shown(given).text).toBe(" word word word");
    expect(matrix.askedOf(kind)).toContain(PICTURE);
  });

  it("asks for an answer in the form of a schema", async () => {
    await askExactly(pair(), "schema", bodyOf({ said: WORDS, stream: false, schema: CITY }), false);
    expect(matrix.askedOf(kind)).toContain(JSON.stringify(CITY).slice(1, -1));
  });

  it.each([true, false])("is shown that the model refuses, streamed: %s", async (stream) => {
    const given = await askExactly(pair(), "refusal", bodyOf({ said: upstream.refuses, stream }), stream);
    expect(client.shown(given)).toMatchObject({ calls: [], finish: "filtered" });
  });

  it("reads a prompt from the cache the second time", async () => {
    const { bench } = pair();
    const body = bodyOf({ said: "hi", stream: true, system: `${client.name} ${SYSTEM}` });
    const first = await askExactly({ client, upstream, bench }, "cache write", body, true);
    const second = await askExactly({ client, upstream, bench }, "cache read", body, true);
    expect(client.shown(first).usage?.cached).toBe(0);
    expect(client.shown(second).usage?.cached).toBeGreaterThanOrEqual(upstream.cached);
  });

  it.each(["!503", "!429"])("pays nothing where the upstream answers %s", async (said) => {
    for (const stream of [true, false]) {
      const { bench } = pair();
      const { error } = await client.send(bench, bodyOf({ said, stream }), { model: `acme/${kind}`, stream });
      expect(error).toMatchObject({ code: "upstream_busy" });
      expect(bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
      note({ client, upstream }, `error ${said}`, "free");
    }
  });

  it("learns why the provider refuses a prompt, and pays nothing", async () => {
    const { bench } = pair();
    const asked = { model: `acme/${kind}`, stream: true };
    const { error } = await client.send(bench, bodyOf({ said: "!long", stream: true }), asked);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ reason: "context_length_exceeded" });
    expect(bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
    note({ client, upstream }, "prompt too long", "free");
  });

  it.each(["!cut", upstream.failsLate])(
    "is shown that a stream broke off (%s), and pays for what came",
    async (order) => {
      const { bench } = pair();
      const said = `${"Hello again. ".repeat(4)}${order}`;
      const asked = { model: `acme/${kind}`, stream: true };
      const given = await client.send(bench, bodyOf({ said, stream: true }), asked);
      expect(given).toMatchObject({ outcome: "upstream_busy" });
      expect(given.error).not.toBeNull();
      const { text } = client.shown(given);
      expect(said.startsWith(text) && text.length > WORDS.length).toBe(true);
      const settled = bench.ledger.settlement;
      expect(settled).toMatchObject({ basis: "estimated" });
      expect(settled.outputTokens).toBeGreaterThan(5);
      note({ client, upstream }, order.startsWith("!cut") ? "cut" : "fails late", String(Number(settled.cost) / 1e6));
    },
  );

  it("pays nothing for a whole answer that was cut", async () => {
    const { bench } = pair();
    const asked = { model: `acme/${kind}`, stream: false };
    const { error } = await client.send(bench, bodyOf({ said: "!cut", stream: false }), asked);
    expect(error).toMatchObject({ code: "upstream_busy" });
    expect(bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
    note({ client, upstream }, "cut, whole", "free");
  });

  it("is answered by the next route, whatever the first one speaks", async () => {
    for (const dead of MATRIX_UPSTREAMS) {
      const routes = [`dead-${dead.kind}`, kind].map((id) => ({ upstream: id, model: "m" }));
      const bench = matrix.open(matrixModel(kind, { routes }));
      for (const stream of [true, false]) {
        const body = bodyOf({ said: WORDS, stream, tools: TOOLS });
        const given = await askExactly({ client, upstream, bench }, `after ${dead.protocol}`, body, stream);
        expect(client.shown(given).text).toBe(WORDS);
      }
    }
  });
});

describe.each(pairs.filter(({ upstream }) => upstream.kind === "anthropic"))("$name", ({ client, upstream }) => {
  const { kind } = upstream;
  it("has its own marks for the cache, or ours, and pays for the lifetime that they ask for", async () => {
    const bench = matrix.open(matrixModel(kind));
    const asked = { model: `acme/${kind}`, said: "hi", stream: false, system: `marked by ${client.name} ${SYSTEM}` };
    await askExactly({ client, upstream, bench }, "marked", client.bodyOf(asked), false);
    const { otherTokens } = bench.ledger.settlement;
    expect(otherTokens?.[client.name === "messages" ? "cacheWrite1h" : "cacheWrite"]).toBeGreaterThan(500);
  });

  it("pays the input that the provider has shown before its stream broke off", async () => {
    const bench = matrix.open(matrixModel(kind));
    const body = client.bodyOf({ model: `acme/${kind}`, said: `${WORDS} !cut`, stream: true });
    await client.send(bench, body, { model: `acme/${kind}`, stream: true });
    expect(bench.ledger.settlement.inputTokensUncached).toBe(matrix.truthOf(kind)?.plain);
  });
});

// At upstreams of other kinds thoughts may be unseen, so the whole bound is held at once.
const seen = pairs.filter(({ upstream }) => upstream.showsOutput);
describe.each(seen)("a stream of $name", ({ client, upstream: { kind } }) => {
  it("ends as at a cap where the balance does, and costs no more than was held", async () => {
    const bench = matrix.open(matrixModel(kind, { hiddenOutput: false }));
    bench.ledger.extendWith = () => Promise.resolve({ outcome: "refused", amount: 0n, othersHold: false });
    const asked = { model: `acme/${kind}`, said: "!tokens=5000", stream: true, cap: 10_000 };
    const given = await client.send(bench, client.bodyOf(asked), asked);
    const [hold] = bench.ledger.admissions;
    expect(given).toMatchObject({ outcome: "insufficient_balance", error: null });
    expect(client.shown(given)).toMatchObject({ finish: "length" });
    expect(client.shown(given).text.length).toBeGreaterThan(5_000);
    expect(bench.ledger.settlement.cost).toBeLessThanOrEqual(hold?.amount ?? 0n);
  });
});
