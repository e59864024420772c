// Protocols beside chat over HTTP: a real gateway over a scripted upstream, and what it bills.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { usePlayground } from "../../gateway/playground.ts";
import { chunk, completion, json, ordinaryEvents, stream, wire } from "../../gateway/scripted-upstream.ts";
import { startServers, type Running, SECRET } from "../fakes.ts";
import { RawConnection } from "../raw-http.ts";

const playground = usePlayground();
let running: Running;
beforeEach(async () => {
  running = await startServers({ gateway: playground.bench.gateway });
});
afterEach(() => running.servers.close(1_000));

const KEY_HEADER = { authorization: `Bearer ${SECRET}` };
/** The cost of the scripted upstream's usage: 7 tokens of input, 4 cached ones and 3 of output. */
const COST = { units: 83_800n, text: "0.0838" };

const PROTOCOLS = {
  messages: {
    path: "/v1/messages",
    body: { model: "local/m", max_tokens: 900, messages: [{ role: "user", content: "hi" }] },
  },
  responses: { path: "/v1/responses", body: { model: "local/m", input: "hi" } },
} as const;
type Protocol = keyof typeof PROTOCOLS;
const NAMES = Object.keys(PROTOCOLS) as Protocol[];

function ask(protocol: Protocol, more: object = {}, headers: Record<string, string> = KEY_HEADER): Promise<Response> {
  const { path, body } = PROTOCOLS[protocol];
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  return fetch(running.http + path, { ...init, body: JSON.stringify({ ...body, ...more }) });
}

/** The events of a stream with their names. */
async function eventsOf(response: Response): Promise<{ name: string; data: Record<string, unknown> }[]> {
  const text = await response.text();
  expect(text.endsWith("\n\n")).toBe(true);
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((event) => {
      const [, name = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      return { name, data: JSON.parse(data) as Record<string, unknown> };
    });
}

describe.each(NAMES)("%s", (protocol) => {
  it("streams an answer in its own events, and bills it as chat", async () => {
    playground.upstream.run(stream(wire(ordinaryEvents())));
    const response = await ask(protocol, { stream: true });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      "cache-control": "no-store",
      "x-ratelimit-remaining-requests": "59",
    });
    const events = await eventsOf(response);
    for (const { name, data } of events) expect(data["type"]).toBe(name);
    const deltas = events.flatMap(({ data: { delta } }) => {
      if (typeof delta === "string") return delta;
      return typeof delta === "object" && delta !== null && "text" in delta ? String(delta.text) : [];
    });
    expect(deltas.join("")).toBe("Halo dunia");
    expect(playground.bench.ledger.settlement).toMatchObject({ cost: COST.units, basis: "exact", streamed: true });
    expect(JSON.stringify(events)).toContain(`"cost_idr":"${COST.text}"`);
  });

  it("answers in one piece, with its cost", async () => {
    playground.upstream.run(json(completion()));
    const response = await ask(protocol);
    expect(response.headers.get("x-saldo-cost-idr")).toBe(COST.text);
    const answer = JSON.stringify(await response.json());
    expect(answer).toContain("Halo!");
    expect(answer).toContain(String(response.headers.get("x-request-id")));
    expect(playground.bench.ledger.settlement).toMatchObject({ cost: COST.units, streamed: false });
  });

  it("sends calls of tools in one piece or streamed", async () => {
    const call = { id: "functions.look:0", type: "function", function: { name: "look", arguments: '{"x":1}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    playground.upstream.run(json(completion({ choices: [{ index: 0, message, finish_reason: "stop" }] })));
    const whole = JSON.stringify(await (await ask(protocol)).json());
    const id = /call_[0-9a-f]{32}/.exec(whole)?.[0] ?? "none";
    expect(whole).toContain('"look"');
    const streamed = [chunk({ tool_calls: [{ index: 0, ...call }] }), chunk({}, "tool_calls"), "[DONE]"];
    playground.upstream.run(stream(wire(streamed)));
    expect(JSON.stringify(await eventsOf(await ask(protocol, { stream: true })))).toContain(id);
  });

  it("ends a stream that broke off in its own form", async () => {
    playground.upstream.run(stream(wire([chunk({ content: "Halo" })])));
    const last = (await eventsOf(await ask(protocol, { stream: true }))).at(-1);
    expect(last?.name).toBe({ messages: "error", responses: "response.failed" }[protocol]);
    expect(playground.bench.ledger.settlement).toMatchObject({ basis: "estimated" });
  });

  it("refuses a body by its field, a model that is not sold, and an upstream that fails", async () => {
    const refusals = [
      [await ask(protocol, { temperature: "warm" }), 400, "temperature"],
      [await ask(protocol, { model: "no/model" }), 404, "no/model"],
    ] as const;
    playground.upstream.run(json("no", 500));
    const busy = await ask(protocol);
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "5"]);
    for (const [response, status, word] of refusals) {
      expect(response.status).toBe(status);
      expect(await response.text()).toContain(word);
    }
  });

  it("refuses a model of embeddings by the field of the model", async () => {
    const response = await ask(protocol, { model: "local/embed" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("model is an embeddings model, which answers no chat");
    expect(playground.bench.ledger.admissions).toEqual([]);
  });

  it("knows its caller, and the window of its key, before it reads the body", async () => {
    const head = `POST ${PROTOCOLS[protocol].path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
    const ended = `content-length: ${31 * 1024 * 1024}\r\n\r\n`;
    const stranger = new RawConnection(running);
    await stranger.send(head + ended);
    expect(await stranger.status()).toBe(401);
    running.keys.full = true;
    const waiting = new RawConnection(running);
    await waiting.send(`${head}authorization: Bearer ${SECRET}\r\n${ended}`);
    expect(await waiting.status()).toBe(429);
    expect(running.servers.intake.bytesInFlight).toBe(0);
    stranger.close();
    waiting.close();
  });
});

const errorOf = async (response: Response): Promise<unknown> => response.json();

describe("errors of Messages", () => {
  const asked = async (more: object, headers?: Record<string, string>) => {
    const response = await ask("messages", more, headers);
    return { id: response.headers.get("request-id"), error: await errorOf(response) };
  };

  it.each([
    ["authentication_error", { error_code: "invalid_api_key" }, {}, {}],
    ["invalid_request_error", { error_code: "validation_error" }, { max_tokens: "many" }, KEY_HEADER],
    ["not_found_error", { error_code: "model_not_found" }, { model: "no/model" }, KEY_HEADER],
    ["overloaded_error", { error_code: "upstream_busy", retry_after: 5 }, {}, KEY_HEADER],
  ])("have Anthropic's form and the id of the request: %s", async (type, details, more, headers) => {
    playground.upstream.run(json("no", 500));
    const { id, error } = await asked(more, headers);
    expect(error).toEqual({
      type: "error",
      error: { type, message: expect.any(String) as string, details },
      request_id: id,
    });
  });

  it("begin with the words by which clients shorten a conversation", async () => {
    const reason = { error: { message: "too many tokens", code: "context_length_exceeded" } };
    playground.upstream.run(json(JSON.stringify(reason), 400));
    expect((await asked({})).error).toMatchObject({
      error: { type: "invalid_request_error", message: expect.stringMatching(/^prompt is too long: /) as string },
    });
  });

  it("are those of a wrong verb and a wrong path too", async () => {
    for (const [path, type] of [
      ["/v1/messages", "invalid_request_error"],
      ["/v1/messages/batches", "not_found_error"],
    ]) {
      const response = await fetch(running.http + path);
      expect(await errorOf(response)).toMatchObject({ type: "error", error: { type } });
    }
  });
});

describe("a client of Messages", () => {
  const FOREIGN = "sk-ant-foreign";
  const status = async (headers: Record<string, string>, protocol: Protocol = "messages"): Promise<number> => {
    playground.upstream.run(json(completion()));
    return (await ask(protocol, {}, headers)).status;
  };

  it("may send its key in x-api-key, alone or beside another credential", async () => {
    expect(await status({ "x-api-key": SECRET })).toBe(200);
    expect(await status({ "x-api-key": SECRET, authorization: `Bearer ${FOREIGN}` })).toBe(200);
    expect(await status({ "x-api-key": FOREIGN, authorization: `Bearer ${SECRET}` })).toBe(200);
    expect(await status({ "x-api-key": FOREIGN, authorization: `Bearer ${FOREIGN}` })).toBe(401);
    expect(await status({ "x-api-key": SECRET }, "responses")).toBe(401);
  });

  it("finds the request's id where it looks for it", async () => {
    playground.upstream.run(json(completion()));
    const { headers } = await ask("messages");
    expect(headers.get("request-id")).toBe(headers.get("x-request-id"));
  });
});

describe("errors of Responses", () => {
  it("have OpenAI's nested object always, with codes that its clients know", async () => {
    expect(await errorOf(await ask("responses", {}, {}))).toEqual({
      error: {
        message: expect.stringContaining("API key") as string,
        type: "authentication_error",
        code: "invalid_api_key",
        param: null,
      },
    });
    playground.upstream.run(json("no", 500));
    expect(await errorOf(await ask("responses"))).toMatchObject({
      error: { type: "server_error", code: "server_is_overloaded", param: null },
    });
    running.keys.full = true;
    expect(await errorOf(await ask("responses"))).toMatchObject({
      error: { type: "rate_limit_error", code: "rate_limit_exceeded" },
    });
  });

  it("name the wrong field, also of a wrong verb or path", async () => {
    expect(await errorOf(await ask("responses", { temperature: "warm" }))).toMatchObject({
      error: { type: "invalid_request_error", code: "validation_error", param: "temperature" },
    });
    const wrongVerb = await fetch(`${running.http}/v1/responses`);
    expect([wrongVerb.status, await errorOf(wrongVerb)]).toEqual([
      405,
      { error: expect.objectContaining({ code: "method_not_allowed" }) as object },
    ]);
    const stored = await fetch(`${running.http}/v1/responses/resp_1`, { headers: KEY_HEADER });
    expect([stored.status, await errorOf(stored)]).toEqual([
      404,
      { error: expect.objectContaining({ code: "not_found" }) as object },
    ]);
  });
});
