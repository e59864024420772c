import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  type ApiDocument,
  curlOf,
  examplesOf,
  fieldsOf,
  operationsOf,
  searchOperations,
  typeOf,
} from "./api-document.ts";
import { API_GROUPS } from "./api-messages.ts";

const file = new URL("../../../../openapi/openapi.json", import.meta.url);
const document = JSON.parse(await readFile(file, "utf8")) as ApiDocument;
const ORIGIN = "https://saldo.example";
const idsOf = (search: string) => searchOperations(document, search).map(({ operationId }) => operationId);
const operation = (id: string) => {
  const found = operationsOf(document).find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  return found;
};

describe("the reference of our OpenAPI document", () => {
  it("has every operation of every path once, each in a group with a name", () => {
    const paths = Object.values(document.paths).flatMap((item) =>
      Object.keys(item).filter((verb) => verb !== "servers"),
    );
    const operations = operationsOf(document);
    expect(operations).toHaveLength(paths.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(paths.length);
    for (const { tags } of operations) expect(Object.keys(API_GROUPS.id)).toContain(tags[0]);
  });

  it("finds operations by path, sentence and field, with all words of a search", () => {
    expect(idsOf("chat completions")).toContain("createChatCompletion");
    expect(idsOf("reasoning_effort")).toEqual(["createChatCompletion"]);
    expect(idsOf("EMBEDDINGS post")).toEqual(["createEmbeddings"]);
    expect(idsOf("no-such-word")).toEqual([]);
    expect(idsOf(" ")).toHaveLength(operationsOf(document).length);
  });

  it("shows fields behind references, lists and choices, and their types", () => {
    const body = Object.values(operation("createChatCompletion").requestBody?.content ?? {})[0]?.schema ?? {};
    const fields = new Map(fieldsOf(document, body));
    expect(typeOf(document, fields.get("messages") ?? {})).toBe("ChatMessage[]");
    expect(fieldsOf(document, fields.get("messages") ?? {}).map(([name]) => name)).toContain("tool_calls");
    const message = new Map(fieldsOf(document, fields.get("messages") ?? {}));
    expect(typeOf(document, message.get("content") ?? {})).toBe("string | ContentPart[] | null");
  });

  it("shows the examples of every body that is sent", () => {
    for (const { operationId, requestBody } of operationsOf(document)) {
      for (const content of Object.values(requestBody?.content ?? {})) {
        const examples = examplesOf(document, content);
        expect(
          examples.filter((example) => typeof example === "object"),
          operationId,
        ).toHaveLength(examples.length);
        expect(examples.length, operationId).toBeGreaterThan(0);
      }
    }
  });

  it("calls with a key, or with a merchant's pair, and fills the path", () => {
    expect(curlOf(document, operation("createChatCompletion"), ORIGIN)).toMatch(
      /^curl 'https:\/\/saldo\.example\/v1\/chat\/completions' \\\n {2}-H "Authorization: Bearer \$SALDO_API_KEY" \\\n {2}-H "Content-Type: application\/json" \\\n {2}-d '\{"model"/,
    );
    const commands = operationsOf(document).map((each) => curlOf(document, each, ORIGIN));
    expect(commands.filter((command) => command.split("\n", 1)[0]?.includes("{"))).toEqual([]);
    const merchants = commands.filter((command) => command.includes("/v1/merchant-"));
    expect(merchants.length).toBeGreaterThan(4);
    for (const command of merchants) expect(command).toContain('-u "$MERCHANT_API_KEY:$MERCHANT_SECRET_KEY"');
  });
});
