// The contracts as a whole: nothing in them is left unserved or unused.

import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type DescField, type DescMessage, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import type { GenFile } from "@bufbuild/protobuf/codegenv2";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { callers, errors, RequestBoundsSchema, RestFieldSchema, rpc_errors } from "#gen/saldo/options/v1/options_pb.ts";
import { services as served } from "../../src/transport/calls/services.ts";
import { httpStatus } from "../../src/kernel/http-status.ts";

const contracts = await readContracts();
const services = contracts.flatMap((file) => file.services);
const messages = contracts.flatMap((file) => file.messages.flatMap(withNested));

async function readContracts(): Promise<GenFile[]> {
  const folder = fileURLToPath(new URL("../../gen/saldo/", import.meta.url));
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith("_pb.ts"));
  const modules = await Promise.all(paths.map((path): Promise<Record<string, unknown>> => import(`${folder}${path}`)));
  return modules.flatMap((module) => Object.values(module)).filter(isGenFile);
}

function isGenFile(value: unknown): value is GenFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

function withNested(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNested)];
}

/** Every message that can travel when these do. */
function reachableFrom(start: readonly DescMessage[]): Set<string> {
  const reached = new Map<string, DescMessage>();
  const queue = [...start];
  for (let message = queue.pop(); message !== undefined; message = queue.pop()) {
    if (reached.has(message.typeName)) continue;
    reached.set(message.typeName, message);
    for (const field of message.fields) if (field.message !== undefined) queue.push(field.message);
  }
  return new Set(reached.keys());
}

function names(list: readonly DescService[]): string[] {
  return list.map((service) => service.typeName).toSorted();
}

test("every service of the contracts is served", () => {
  expect(services.length).toBeGreaterThan(0);
  expect(names(services)).toEqual(names(Object.values(served)));
});

test("every message of the contracts can be met by a caller", () => {
  const travelling = services.flatMap((service) => service.methods.flatMap(({ input, output }) => [input, output]));
  const reached = reachableFrom([...travelling, ErrorFactsSchema, RequestBoundsSchema, RestFieldSchema]);
  expect(messages.map((message) => message.typeName).filter((name) => !reached.has(name))).toEqual([]);
});

test("every method has its callers", () => {
  const methods = services.flatMap((service) => service.methods);
  const silent = methods.filter((method) => !hasOption(method, callers) || getOption(method, callers).length === 0);
  expect(silent.map((method) => `${method.parent.typeName}/${method.name}`)).toEqual([]);
});

test("every error code that a method names is one of ours, and named once", () => {
  const named = services.flatMap(({ methods }) =>
    methods.map((method) => [...getOption(method, errors), ...getOption(method, rpc_errors)]),
  );
  expect(named.flat().length).toBeGreaterThan(100);
  expect(named.flat().filter((code) => !Object.hasOwn(httpStatus, code))).toEqual([]);
  expect(named.filter((codes) => new Set(codes).size !== codes.length)).toEqual([]);
});

test("every list of a request has a bound on its items", () => {
  const requests = reachableFrom(services.flatMap((service) => service.methods.map(({ input }) => input)));
  const lists = messages
    .filter(({ typeName }) => requests.has(typeName))
    .flatMap(({ fields }) => fields.filter(({ fieldKind }) => fieldKind === "list" || fieldKind === "map"));
  expect(lists.length).toBeGreaterThan(10);
  const isBounded = (list: DescField): boolean => {
    const { type } = getOption(list, fieldRules);
    return (type.case === "repeated" && type.value.maxItems > 0n) || (type.case === "map" && type.value.maxPairs > 0n);
  };
  expect(lists.filter((list) => !isBounded(list)).map(String)).toEqual([]);
});

/** Names of fields whose values are one of a few words, or a moment. */
const CHOICE =
  /((?:^[ \t]*\/\/.*\n)+)[ \t]*(?:optional |repeated )?string (\w*(?:kind|status|state|outcome|type|action|provider|environment|basis|_at))\b(?! ?=.*json_name)/gm;

/** Fields of a contract that have words and are no enum, without the reason or the field that has it. */
function unarguedChoices(text: string): string[] {
  return Array.from(text.matchAll(CHOICE), ([, comment = "", name = ""]) => ({
    comment: comment.replaceAll(/\s*\/\/ ?/g, " "),
    name,
  }))
    .filter(({ comment }) => !/ A string, because | A string as |spelled as /.test(comment))
    .map(({ name }) => name);
}

test("a field that is one of a few words is an enum and a moment a timestamp, or its comment has the reason why not", async () => {
  const folder = fileURLToPath(new URL("../../proto/saldo/", import.meta.url));
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".proto"));
  // The protocols of other makers are theirs, words and all.
  const own = paths.filter((path) => !path.startsWith("gateway/"));
  expect(own.length).toBeGreaterThan(20);
  const found = await Promise.all(own.map(async (path) => unarguedChoices(await readFile(folder + path, "utf8"))));
  expect(found.flatMap((fields, place) => fields.map((name) => `${own[place]}: ${name}`))).toEqual([]);
});

test("a word without a reason is found", () => {
  expect(unarguedChoices("  // What happened.\n  string kind = 3;\n")).toEqual(["kind"]);
  expect(unarguedChoices("  // Only this one.\n  optional string transfer_status = 3 [(x) = 1];\n")).toEqual([
    "transfer_status",
  ]);
  expect(unarguedChoices("  // Theirs. A string, because\n  // it is theirs.\n  string kind = 3;\n")).toEqual([]);
  expect(unarguedChoices("  // When.\n  string made_at = 3;\n")).toEqual(["made_at"]);
  expect(unarguedChoices("  // The kind.\n  Kind kind = 3;\n")).toEqual([]);
});
