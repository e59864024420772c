// openapi/openapi.json as validators: one for each schema of an answer, compiled when it is first needed.

import { readFileSync } from "node:fs";
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Json = { [key: string]: Json } & { readonly $ref?: string };
export type Operation = { readonly path: string; readonly verb: string };

const DOCUMENT = new URL("../../../openapi/openapi.json", import.meta.url);

/** A schema that names its properties holds no others, unless it allows them. Clients are not to rely on that; the service is. */
function close(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const schema = value as Record<string, unknown>;
  if (schema["type"] === "object" && "properties" in schema) schema["additionalProperties"] ??= false;
  for (const [name, part] of Object.entries(schema)) if (name !== "examples" && name !== "example") close(part);
}

/** The document, whose schemas are compiled when they are first needed. */
export class DocumentedAnswers {
  readonly #document: Json;
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #compile: (reference: string) => ValidateFunction;
  readonly #paths: readonly { readonly path: string; readonly form: RegExp }[];

  constructor() {
    const document = JSON.parse(readFileSync(DOCUMENT, "utf8"));
    close(document);
    // The document as a whole is no schema: its own members are unknown keywords.
    const ajv = new Ajv2020({ strict: false, validateSchema: false });
    addFormats.default(ajv);
    ajv.addSchema(document, "openapi.json");
    this.#compile = (reference) => ajv.compile({ $ref: `openapi.json${reference}` });
    this.#document = document;
    this.#paths = Object.keys(document.paths)
      .map((path) => ({ path, form: formOf(path) }))
      // A variable takes a path's end, and the end of a longer path may be behind it.
      .toSorted((a, b) => b.path.length - a.path.length)
      .toSorted((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")));
  }

  /** The operation of a request. Null: the document has none. */
  operationOf(method: string, url: string): Operation | null {
    const path = url.split("?", 1)[0] ?? "";
    const found = this.#paths.find(({ form }) => form.test(path));
    const verb = method.toLowerCase();
    return found === undefined || this.#at(["paths", found.path, verb]) === undefined
      ? null
      : { path: found.path, verb };
  }

  /** What contradicts the document in an answer to an operation, in words; null: nothing. */
  problemOf(operation: Operation, status: number, mediaType: string, values: readonly unknown[]): string | null {
    const pointer = ["paths", operation.path, operation.verb, "responses", String(status)];
    const response = this.#at(pointer);
    if (response === undefined) return `the status ${status} is not documented`;
    const content = this.#at([...pointer, "content", mediaType]);
    if (content === undefined) return `the media type ${mediaType} of ${status} is not documented`;
    return this.problemAt([...pointer, "content", mediaType, "schema"], values);
  }

  /** What is wrong with an error of a path that the document does not know; null: nothing. */
  problemOfError(values: readonly unknown[]): string | null {
    const names = ["Error", "OpenAiError", "MerchantError", "MessagesError", "ResponsesError", "GeminiError"];
    const problems = names.map((name) => this.problemAt(["components", "schemas", name], values));
    return problems.includes(null) ? null : problems.join("; ");
  }

  /** What contradicts the schema at a place of the document; null: nothing. */
  problemAt(pointer: readonly string[], values: readonly unknown[]): string | null {
    const reference = `#/${pointer.map(pointerPart).join("/")}`;
    const validate = this.#validators.get(reference) ?? this.#compile(reference);
    this.#validators.set(reference, validate);
    for (const value of values) {
      if (validate(value)) continue;
      const reasons = (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
      );
      return `${reasons.join("; ")} in ${JSON.stringify(value).slice(0, 600)}`;
    }
    return null;
  }

  #at(pointer: readonly string[]): Json | undefined {
    let at: Json | undefined = this.#document;
    for (const part of pointer) at = at?.[part];
    return at;
  }
}

function pointerPart(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** What a documented path matches, also under /sandbox: routes.test.ts compares where merchant paths are. */
function formOf(path: string): RegExp {
  const form = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  // The document cannot express that an id may contain slashes.
  const variable = /^\/v1(beta)?\/models\/\{/.test(path) ? ".+" : "[^/]+";
  return new RegExp(`^(/sandbox)?${form.replaceAll(/\{[^}]+\}/g, variable)}/?$`);
}
