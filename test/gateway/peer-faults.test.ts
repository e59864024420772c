// The faults that other gateways had in translating between protocols, here at every client and every kind of upstream.
// Covered elsewhere: inputs of calls that alternate, reversed results and thoughts in a tool loop (protocol-matrix.test.ts); an end
// that is "stop" beside calls, and no end at all (read-chat-answer.test.ts, translated-answers.test.ts); an answer that is not
// quite Anthropic's (vendor-clients.test.ts); a content filter shown as success (protocol-matrix.test.ts); encrypted reasoning of
// another account (openai-responses-upstream.test.ts); a missing path for compaction (wrong-paths.test.ts).

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "./fakes/anthropic-wire.ts";
import { askAndCompare } from "./matrix-ask.ts";
import type { Given, MatrixClient } from "./matrix-client.ts";
import { MATRIX_CLIENTS } from "./matrix-clients.ts";
import { MATRIX_UPSTREAMS, matrixModel, type MatrixUpstream, startMatrix } from "./matrix-upstreams.ts";

let matrix: Awaited<ReturnType<typeof startMatrix>>;
beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.stop());

type Place = { readonly client: MatrixClient; readonly upstream: MatrixUpstream };

/** The answer to a body, which is charged exactly. */
async function ask({ client, upstream }: Place, body: Json, stream = false): Promise<Given> {
  const bench = matrix.open(matrixModel(upstream.kind));
  const named = client.name === "gemini" ? body : { ...body, model: `acme/${upstream.kind}`, stream };
  return (await askAndCompare(matrix, { client, upstream, bench }, { body: named, stream })).given;
}

const wholeOf = ({ parts: [answer] }: Given): Json => answer ?? {};
const pairs = MATRIX_CLIENTS.flatMap((client) =>
  MATRIX_UPSTREAMS.map((upstream) => ({ client, upstream, name: `${client.name} at ${upstream.kind}` })),
);
/** Where the client's bytes do not pass as they are. */
const translated = pairs.filter(({ client, upstream }) => client.name !== upstream.protocol);
const TOOLS = ["look", "see"];

/** A conversation with two calls, which have results, at this upstream. */
async function withResults(place: Place, { thinks = false }: { readonly thinks?: boolean } = {}): Promise<Json> {
  const said = thinks ? "!think !callall" : "!callall";
  const body = place.client.bodyOf({ model: "", said, stream: false, tools: TOOLS, thinks });
  return place.client.goOn(body, wholeOf(await ask(place, body)), () => "done");
}

describe.each(pairs)("a conversation that began as $name", ({ client, upstream }) => {
  it.each(MATRIX_UPSTREAMS.filter((other) => other !== upstream))(
    "goes on at $kind, which cannot read the thoughts of the first",
    async (other) => {
      const next = await withResults({ client, upstream }, { thinks: true });
      expect(client.shown(await ask({ client, upstream: other }, next)).text).toBe("done");
    },
  );
});

describe.each(translated)("$name", ({ client, upstream }) => {
  it("takes ids of calls that other servers made, whatever their characters and length", async () => {
    // Google gives calls no ids, and its answers pass as they are.
    const first = client.name === "gemini" ? "chat" : client.name;
    const next = JSON.stringify(await withResults({ client, upstream: speaking(first) }));
    const ids = [...new Set(Array.from(next.matchAll(/"(?:id|call_id)":"([^"]+)"/g), ([, id = ""]) => id))];
    expect(ids.length).toBeGreaterThanOrEqual(2);
    const odd = ids.reduce((text, id, at) => text.replaceAll(id, `functions.look:${at}${"-long".repeat(20)}`), next);
    expect(client.shown(await ask({ client, upstream }, JSON.parse(odd) as Json)).text).toBe("done");
  });

  it("answers a request for a summary, which has calls and no tools", async () => {
    const { tools, ...next } = await withResults({ client, upstream });
    expect(tools).toHaveLength(client.name === "gemini" ? 1 : 2);
    expect(client.shown(await ask({ client, upstream }, next)).text).toBe("done");
  });

  it("leaves out what stock clients send for their own provider", async () => {
    const body = client.bodyOf({ model: "", said: "Hello.", stream: true, tools: TOOLS });
    const given = await ask({ client, upstream }, withExtras(client, body), true);
    expect(client.shown(given)).toMatchObject({ text: "Hello.", finish: "stop" });
  });
});

function speaking(name: MatrixClient["name"]): MatrixUpstream {
  const found = MATRIX_UPSTREAMS.find(({ protocol }) => protocol === name);
  if (found === undefined) throw new Error(`no upstream speaks ${name}`);
  return found;
}

/** What agents and packages were seen to send, beside what has a meaning everywhere. */
const EXTRAS: Readonly<Record<MatrixClient["name"], Json>> = {
  chat: {
    store: false,
    prompt_cache_key: "a",
    frequency_penalty: 0,
    presence_penalty: 0,
    temperature: 1,
    parallel_tool_calls: true,
    user: "u",
    metadata: { a: "b" },
    seed: 4,
  },
  messages: {
    context_management: { edits: [{ type: "clear_thinking_20251015" }] },
    metadata: { user_id: '{"device_id":"a"}' },
    safeguards: [{ type: "a" }],
    diagnostics: {},
  },
  responses: {
    include: ["reasoning.encrypted_content"],
    client_metadata: { a: "b" },
    prompt_cache_key: "a",
    store: false,
    truncation: "auto",
    parallel_tool_calls: true,
    text: { verbosity: "low" },
    metadata: { a: "b" },
  },
  gemini: { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }] },
};
const EXTRA_TOOLS: Readonly<Partial<Record<MatrixClient["name"], readonly Json[]>>> = {
  messages: [{ name: "hidden", input_schema: { type: "object" }, defer_loading: true, eager_input_streaming: true }],
  responses: [{ type: "web_search" }, { type: "tool_search" }],
};

function withExtras({ name }: MatrixClient, body: Json): Json {
  return { ...body, ...EXTRAS[name], tools: [...(body["tools"] as Json[]), ...(EXTRA_TOOLS[name] ?? [])] };
}

const MESSAGES = translated.filter(({ client }) => client.name === "messages");
describe.each(MESSAGES)("Claude Code as $name", ({ client, upstream }) => {
  it("reads its prompt from the cache though its first instruction differs each time", async () => {
    const askWith = async (hash: string) => {
      const header = { type: "text", text: `x-anthropic-billing-header: cc_version=2.1.330; cch=${hash};` };
      const body = client.bodyOf({ model: "", said: "hi", stream: false, system: `of ${upstream.kind} `.repeat(500) });
      return client.shown(
        await ask({ client, upstream }, { ...body, system: [header, ...(body["system"] as Json[])] }),
      );
    };
    await askWith("11111");
    expect((await askWith("22222")).usage?.cached).toBeGreaterThanOrEqual(upstream.cached);
  });
});

const RESPONSES = pairs.filter(({ client }) => client.name === "responses");
describe.each(RESPONSES)("Codex as $name", ({ client, upstream }) => {
  it.each([true, false])("gets calls of tools in namespaces, and of freeform tools, streamed: %s", async (stream) => {
    const parameters = { type: "object", properties: { at: { type: "number" } } };
    const wait = { type: "function", name: "wait_agent", description: "", parameters, strict: false };
    const tools = [
      { type: "namespace", name: "multi_agent_v1", description: "Agents.", tools: [wait] },
      { type: "custom", name: "apply_patch", description: "Patches.", format: { type: "text" } },
    ];
    const body: Json = { ...client.bodyOf({ model: "", said: "!callall", stream }), tools };
    const given = await ask({ client, upstream }, body, stream);
    const last = given.parts.at(-1) ?? {};
    const { output } = (stream ? last["response"] : last) as { output: Json[] };
    expect(output).toMatchObject([
      { type: "function_call", name: "wait_agent", namespace: "multi_agent_v1" },
      { type: "custom_tool_call", name: "apply_patch", input: expect.any(String) },
    ]);
    const results = output.map(({ type, call_id }) => ({ type: `${String(type)}_output`, call_id, output: "done" }));
    const next = { ...body, input: [...(body["input"] as Json[]), ...output, ...results], stream: false };
    expect(client.shown(await ask({ client, upstream }, next)).text).toBe("done");
  });
});
