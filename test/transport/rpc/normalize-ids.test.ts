// Ids in capitals: the services compare ids as texts, so the transport writes all ids in small letters.

import { create, type DescMessage, type DescMethod, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { expect, test } from "vitest";
import { ValidationError } from "../../../src/kernel/errors.ts";
import { writeIdsPlainly } from "../../../src/transport/calls/normalize-ids.ts";
import { services } from "../../../src/transport/calls/services.ts";
import { validateMessage } from "../../../src/transport/calls/validate.ts";

const CAPITALS = "0190C1F2-ABCD-7EF0-8ABC-0000000000EF";

/** One text of a request: its place, and how to make the request with another text in it. */
type Place = { readonly path: string; readonly with: (text: string) => { message: Message; read: () => unknown } };

function* placesOf(desc: DescMessage, depth = 0): Generator<Place> {
  if (depth > 4 || desc.typeName.startsWith("google.")) return;
  for (const field of desc.fields) {
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) {
      yield {
        path: field.jsonName,
        with(text) {
          const message = create(desc);
          reflect(desc, message).set(field, text);
          return { message, read: () => reflect(desc, message).get(field) };
        },
      };
    } else if (field.fieldKind === "message" || (field.fieldKind === "list" && field.message !== undefined)) {
      const isList = field.fieldKind === "list";
      for (const inner of placesOf(field.message, depth + 1)) {
        yield {
          path: `${field.jsonName}${isList ? "[0]" : ""}.${inner.path}`,
          with(text) {
            const { message: part, read } = inner.with(text);
            const message = create(desc);
            if (isList) reflect(desc, message).get(field).add(reflect(field.message, part));
            else reflect(desc, message).set(field, reflect(field.message, part));
            return { message, read };
          },
        };
      }
    }
  }
}

/** Whether the contract refuses a text in its place; other fields of the request may be wrong as they are. */
function isRefused(desc: DescMessage, { path, with: made }: Place, text: string): boolean {
  try {
    validateMessage(desc, made(text).message);
    return false;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.some(({ field }) => field === path);
  }
}

const texts = Object.values(services)
  .flatMap((service): DescMethod[] => [...service.methods])
  .flatMap(({ name, input }) => [...placesOf(input)].map((place) => ({ name, input, place })));

function writtenIn({ input, place }: (typeof texts)[number], text: string): unknown {
  const { message, read } = place.with(text);
  writeIdsPlainly(input, message);
  return read();
}

test("every text that has to be an id is written in small letters", () => {
  const ids = texts.filter(
    ({ input, place }) => isRefused(input, place, "no id") && !isRefused(input, place, CAPITALS),
  );
  expect(ids.length).toBeGreaterThan(50);
  expect(ids.some(({ place }) => place.path.includes("."))).toBe(true);
  const others = ids.filter((id) => writtenIn(id, CAPITALS) !== CAPITALS.toLowerCase());
  expect(others.map(({ name, place }) => `${name} ${place.path}`)).toEqual([]);
});

test("every other text stays as it is", () => {
  const free = texts.filter(({ input, place }) => !isRefused(input, place, "Any Text"));
  expect(free.length).toBeGreaterThan(50);
  expect(free.filter((text) => writtenIn(text, CAPITALS) !== CAPITALS)).toEqual([]);
});
