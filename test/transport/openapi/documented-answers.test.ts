// openapi/openapi.json against itself: examples follow their schemas, and the comparison of answers with it finds what is wrong.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { DocumentedAnswers } from "../../setup/answers/document.ts";
import { takeProblems } from "../../setup/answers/problems.ts";

type Shown = { value?: unknown; $ref?: string };
type Media = { example?: unknown; examples?: Record<string, Shown> };
type Content = { content: Record<string, Media> };
type Parameter = { name: string; required: boolean; example?: unknown };
type Operation = { requestBody?: Content; responses: Record<string, Content>; parameters?: Parameter[] };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { examples: Record<string, { value: unknown }> };
};

const text = await readFile(new URL("../../../openapi/openapi.json", import.meta.url), "utf8");
const { paths, components } = JSON.parse(text) as Document;
const documented = new DocumentedAnswers();

const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([verb]) => verb !== "servers")
    .map(([verb, operation]) => ({ name: `${verb} ${path}`, place: ["paths", path, verb], operation })),
);

function examplesOf({ example, examples = {} }: Media): unknown[] {
  const named = Object.values(examples).map(({ value, $ref }) =>
    $ref === undefined ? value : components.examples[$ref.slice("#/components/examples/".length)]?.value,
  );
  return example === undefined ? named : [example, ...named];
}

describe.each(operations)("$name", ({ place, operation }) => {
  const { requestBody, responses, parameters = [] } = operation;
  const contents: [string[], Content][] = Object.entries(responses).map(([status, content]) => [
    [...place, "responses", status],
    content,
  ]);
  if (requestBody !== undefined) contents.push([[...place, "requestBody"], requestBody]);

  it("has examples of its request and of every answer, each by its schema", () => {
    for (const [at, { content }] of contents) {
      for (const [mediaType, media] of Object.entries(content)) {
        const values = examplesOf(media);
        expect(values, at.join(" ")).not.toHaveLength(0);
        const pointer = [...at, "content", mediaType, "schema"];
        expect(documented.problemAt(pointer, values), at.join(" ")).toBeNull();
      }
    }
  });

  it("has examples of its parameters, each by its schema", () => {
    expect(parameters.filter(({ required, example }) => required && example === undefined)).toEqual([]);
    for (const [index, { example }] of parameters.entries()) {
      if (example === undefined) continue;
      expect(documented.problemAt([...place, "parameters", String(index), "schema"], [example])).toBeNull();
    }
  });
});

const BALANCE = { currency: "IDR", available: "1", held: "0", posted: "1", owed: "0" };
const CHUNK = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "acme/large", choices: [] };

describe("the comparison of an answer with the document", () => {
  it.each([
    { wrong: "a field that is missing", value: { ...BALANCE, owed: undefined }, says: "owed" },
    { wrong: "a field that is null", value: { ...BALANCE, held: null }, says: "/held must be string" },
    { wrong: "a number in place of an amount's text", value: { ...BALANCE, held: 1 }, says: "/held must be string" },
    { wrong: "a field that is not documented", value: { ...BALANCE, secret: "1" }, says: "secret" },
    { wrong: "an error with the status of a success", value: { error: "not_found", message: "" }, says: "currency" },
    { wrong: "a status that is not documented", value: BALANCE, status: 201, says: "201 is not documented" },
    { wrong: "another media type", value: BALANCE, mediaType: "text/html", says: "text/html" },
  ])("finds $wrong", ({ value, says, status = 200, mediaType = "application/json" }) => {
    const balance = documented.operationOf("GET", "/v1/balance?at=now");
    expect(balance).toEqual({ path: "/v1/balance", verb: "get" });
    if (balance === null) return;
    expect(documented.problemOf(balance, 200, "application/json", [BALANCE])).toBeNull();
    const values = [JSON.parse(JSON.stringify(value))];
    expect(documented.problemOf(balance, status, mediaType, values)).toContain(says);
  });

  it("reads each event of a stream", () => {
    const chat = { path: "/v1/chat/completions", verb: "post" };
    const delta = { content: null, tool_calls: [{ index: 0, function: { arguments: "{" } }] };
    const good = [CHUNK, { ...CHUNK, choices: [{ index: 0, delta, logprobs: null, finish_reason: null }] }];
    expect(documented.problemOf(chat, 200, "text/event-stream", good)).toBeNull();
    expect(documented.problemOf(chat, 200, "text/event-stream", [...good, { ...CHUNK, id: 7 }])).toContain("/id");
  });

  it("accepts an error in each shape, and no other", () => {
    const details = [{ field: "n", rule: "required", message: "must be sent" }];
    const openAi = { message: "No.", type: "server_error", param: null, code: "upstream_busy" };
    const meta = { message: "No.", statusCode: 404, error: "not_found" };
    for (const body of [{ error: "validation_error", message: "No.", details }, { error: openAi }, { meta }])
      expect(documented.problemOfError([body])).toBeNull();
    expect(documented.problemOfError([{ error: { message: "No." } }])).not.toBeNull();
  });

  it("prefers a path without a variable, and has paths under /sandbox and with slashes in an id", () => {
    const pathOf = (url: string) => documented.operationOf("GET", url)?.path;
    expect(pathOf("/v1/models/acme/large")).toBe("/v1/models/{id}");
    expect(pathOf("/sandbox/v1/merchant-transfers/some-id")).toBe("/v1/merchant-transfers/{id}");
    expect(pathOf("/v1/merchant-transfers/calculate")).toBeUndefined();
    expect(pathOf("/v1/nothing")).toBeUndefined();
  });
});

describe("an answer of a server in a test", () => {
  it.each([
    { path: "/v1/balance", type: "application/json", body: '{"currency":"IDR"}', says: "GET /v1/balance 200:" },
    { path: "/v1/balance", type: "application/json", body: "no JSON", says: "no JSON" },
    { path: "/v1/balance", type: "text/plain", body: "{}", says: "text/plain" },
    { path: "/v1/elsewhere", type: "application/json", body: "{}", says: "no operation" },
  ])("is compared with the document: $type $body at $path", async ({ path, type, body, says }) => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": type, "cross-origin-resource-policy": "same-origin" });
      response.write(body.slice(0, 3));
      response.end(body.slice(3));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    expect(await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).text()).toBe(body);
    server.close();
    await once(server, "close");
    expect(takeProblems()).toEqual([expect.stringContaining(says)]);
  });
});
