// U+0000, which no table can hold: refused in every text of every request that may get to one.

import { create, type DescMessage, type DescMethod, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { expect, test } from "vitest";
import { ValidationError } from "../../../src/kernel/errors.ts";
import { services } from "../../../src/transport/calls/services.ts";
import { validateMessage } from "../../../src/transport/calls/validate.ts";

const TEXT = "a\0b";

/** One message for each text there is in a request, with U+0000 in that one, and the path of it. */
function* messagesWithNul(desc: DescMessage, depth = 0): Generator<[path: string, message: Message]> {
  if (depth > 4 || desc.typeName.startsWith("google.")) return;
  for (const field of desc.fields) {
    const message = create(desc);
    const seen = reflect(desc, message);
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) {
      seen.set(field, TEXT);
      yield [field.jsonName, message];
    } else if (field.fieldKind === "list" && field.scalar === ScalarType.STRING) {
      seen.get(field).add(TEXT);
      yield [`${field.jsonName}[0]`, message];
    } else if (field.fieldKind === "message" || (field.fieldKind === "list" && field.message !== undefined)) {
      for (const [path, inner] of messagesWithNul(field.message, depth + 1)) {
        const outer = create(desc);
        const value = reflect(field.message, inner);
        if (field.fieldKind === "message") reflect(desc, outer).set(field, value);
        else reflect(desc, outer).get(field).add(value);
        yield [`${field.jsonName}${field.fieldKind === "list" ? "[0]" : ""}.${path}`, outer];
      }
    }
  }
}

function problemsOf(desc: DescMessage, message: Message): string[] {
  try {
    validateMessage(desc, message);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.filter(({ rule }) => rule === "string.nul").map(({ field }) => field);
  }
}

const { gateway, embeddings, gemini, messages, responses, ...stored } = services;
const methodsOf = (all: object): DescMethod[] =>
  Object.values(all).flatMap((service: { methods: DescMethod[] }) => [...service.methods]);

test("it is refused in every text of every method, and named", () => {
  const tried = methodsOf(stored).flatMap(({ name, input }) =>
    [...messagesWithNul(input)].map(([path, message]) => [name, path, problemsOf(input, message)] as const),
  );
  expect(tried.length).toBeGreaterThan(100);
  expect(tried.filter(([, path, problems]) => problems.length !== 1 || problems[0] !== path)).toEqual([]);
});

test("a chat may quote it, since a chat is not stored, and so may a text whose vector is asked for", () => {
  const relayed = [
    gateway.method.createChatCompletion,
    embeddings.method.createEmbeddings,
    messages.method.createMessage,
    responses.method.createResponse,
    gemini.method.generateContent,
    gemini.method.streamGenerateContent,
    gemini.method.countContentTokens,
  ] as const;
  const tried = relayed.flatMap(({ input }: DescMethod) =>
    [...messagesWithNul(input)].flatMap(([, message]) => problemsOf(input, message)),
  );
  expect(tried).toEqual([]);
});
