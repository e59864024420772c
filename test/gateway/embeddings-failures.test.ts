import { describe, expect, it } from "vitest";
import { AccountFrozen, ModelNotFound, UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import { answer, BASE64, CONTEXT, useEmbeddings, VECTOR } from "./embeddings-support.ts";
import { json, type Script } from "./scripted-upstream.ts";
import { chat, FakeSink, until } from "./support.ts";

const place = useEmbeddings();

/** The problems of a refused request, which must have cost nothing. */
async function problemsOf(fields: Record<string, unknown>): Promise<string[]> {
  place.upstream.run(answer([VECTOR]));
  const { error } = await place.embed(fields);
  expect(place.bench.ledger.admissions).toEqual([]);
  expect(place.upstream.received).toEqual([]);
  if (!(error instanceof ValidationError)) throw error;
  return error.details.map(({ field, rule }) => `${field} ${rule}`);
}

describe("a request for vectors is refused, and costs nothing,", () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    ["without an input", {}, ["input type"]],
    ["with null", { input: null }, ["input type"]],
    ["with an object", { input: { text: "a" } }, ["input type"]],
    ["with an empty text", { input: "" }, ["input required"]],
    ["with an empty text among others", { input: ["a", ""] }, ["input[1] required"]],
    ["with no texts", { input: [] }, ["input items"]],
    ["with too many texts", { input: Array.from({ length: 2_049 }, () => "a") }, ["input items"]],
    ["with an empty array of tokens", { input: [[1], []] }, ["input[1] required"]],
    ["with texts and tokens", { input: ["a", [1]] }, ["input type"]],
    ["with tokens and a text", { input: [1, "a"] }, ["input type"]],
    ["with a fraction of a token", { input: [1.5] }, ["input type"]],
    ["with a negative token", { input: [[1, -1]] }, ["input[0] type"]],
    ["with nested arrays", { input: [[[1]]] }, ["input[0] type"]],
    [
      "with more tokens than the model reads",
      { input: Array.from({ length: CONTEXT + 1 }, () => 1) },
      ["input context_length"],
    ],
    ["with a text that the model cannot read", { input: ["a", "a".repeat(12_001)] }, ["input[1] context_length"]],
    ["without dimensions", { input: "a", dimensions: 0 }, ["dimensions range"]],
    ["with dimensions in words", { input: "a", dimensions: "many" }, ["dimensions integer"]],
    ["with an unknown encoding", { input: "a", encoding_format: "int8" }, ["encoding_format in"]],
    ["with a user that is no text", { input: "a", user: 7 }, ["user string"]],
    ["with an unknown parameter", { input: "a", input_type: "query" }, ["input_type unknown"]],
    ["with another spelling", { input: "a", Model: "x" }, ["Model unknown"]],
    ["with a dearer tier", { input: "a", service_tier: "priority" }, ["service_tier unpriced"]],
    ["with another provider", { input: "a", provider: { order: ["x"] } }, ["provider unpriced"]],
    ["with a stream", { input: "a", stream: true }, ["stream unknown"]],
    ["for a chat model", { model: "local/chat", input: "a" }, ["model kind"]],
    ["without a model", { model: "", input: "a" }, ["model string"]],
  ])("%s", async (_title, fields, problems) => {
    expect(await problemsOf(fields)).toEqual(problems);
  });

  it("where a name comes twice, or the body is no JSON", async () => {
    for (const body of ['{"model":"local/embed","input":"a","input":"b"}', '{"model":', "[]", '{"a":"\u00e9']) {
      const { error } = await place.embedBytes(Buffer.from(body));
      expect(error).toBeInstanceOf(ValidationError);
    }
    expect(place.bench.ledger.admissions).toEqual([]);
  });

  it("for an unknown model, and an account that is frozen", async () => {
    expect((await place.embed({ model: "local/embeds", input: "a" })).error).toBeInstanceOf(ModelNotFound);
    place.bench.ledger.admitWith = () => ({ outcome: "frozen" });
    place.upstream.run(answer([VECTOR]));
    expect((await place.embed({ input: "a" })).error).toBeInstanceOf(AccountFrozen);
    expect(place.upstream.received).toEqual([]);
  });

  it("as chat, which an embeddings model does not answer", async () => {
    const { error } = await place.bench.send(chat("local/embed", "halo"));
    expect(error).toMatchObject({ details: [{ field: "model", rule: "kind" }] });
    expect(place.bench.ledger.admissions).toEqual([]);
  });
});

describe("an upstream that does not answer with vectors", () => {
  it.each<[string, Script]>([
    ["too few", answer([VECTOR])],
    ["too many", answer([VECTOR, VECTOR, VECTOR])],
    ["none", answer([])],
    ["an empty one", answer([VECTOR, []])],
    ["no numbers", answer([VECTOR, ["a"]])],
    ["null in it", answer([VECTOR, [0.5, null]])],
    ["half a number", answer([BASE64, "AAAA"])],
    ["what is no number", answer([BASE64, Buffer.from("0000c07f", "hex").toString("base64")])],
    ["no base64", answer([BASE64, "!!!!"])],
    ["one twice", json(JSON.stringify({ data: [VECTOR, VECTOR].map((embedding) => ({ index: 0, embedding })) }))],
    ["one beyond the inputs", json(JSON.stringify({ data: [{ index: 7, embedding: VECTOR }, { embedding: VECTOR }] }))],
    ["a chat", json(JSON.stringify({ choices: [] }))],
    ["an error with status 200", json(JSON.stringify({ error: { message: "no" } }))],
    ["something that is no list", json(JSON.stringify({ data: { embedding: VECTOR } }))],
    ["half an answer", json('{"data":[{"embedding":[1')],
  ])("with %s: nothing is shown and nothing is charged", async (_title, script) => {
    place.upstream.run(script);
    const { error, sink } = await place.embed({ input: ["a", "b"] });
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(sink.chunks).toEqual([]);
    expect(place.bench.ledger.settlement).toMatchObject({ cost: 0n, basis: "free" });
    expect(place.bench.ledger.open.size).toBe(0);
  });

  it("is called once more where it cannot have charged", async () => {
    place.upstream.run((response, received, call) =>
      call === 1 ? void response.writeHead(503).end() : answer([VECTOR])(response, received, call),
    );
    const { outcome } = await place.embed({ input: "a" });
    expect([outcome, place.upstream.received.length]).toEqual(["answered", 2]);
    expect(place.upstream.received[1]?.body).toEqual(place.upstream.received[0]?.body);
    expect(place.bench.ledger.settlement).toMatchObject({ inputTokensUncached: 5 });
  });

  it("and refuses the request is believed", async () => {
    place.upstream.run(json(JSON.stringify({ error: { message: "dimensions must be 3" } }), 400));
    const { error } = await place.embed({ input: "a", dimensions: 4 });
    expect(error).toBeInstanceOf(ValidationError);
    expect(place.bench.ledger.settlement).toMatchObject({ cost: 0n, basis: "free" });
  });

  it("and cuts the connection has its call settled once and free", async () => {
    place.upstream.run((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"data":[', () => response.destroy());
    });
    const { error } = await place.embed({ input: "a" });
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(place.bench.ledger.settlement).toMatchObject({ cost: 0n, basis: "free" });
  });

  it("before its client leaves has its hold settled once", async () => {
    place.upstream.run(() => undefined);
    const sink = new FakeSink();
    const work = place.embed({ input: "a" }, sink);
    await until(() => place.upstream.received.length === 1);
    sink.leave();
    expect((await work).outcome).toBe("client_left");
    expect(place.bench.ledger.settlement).toMatchObject({ basis: "free" });
    expect(place.bench.ledger.open.size).toBe(0);
  });
});
