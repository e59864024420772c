// The parts of our OpenAPI document that the reference shows. The document is a file of the build, made from the contracts.

/** A schema, as far as our document uses JSON Schema. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

type Content = {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly $ref?: string }>>;
};
export type Contents = Readonly<Record<string, Content>>;

export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
};

export type Answer = { readonly description: string; readonly content?: Contents };

type StoredOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, Answer>>;
};

export type Operation = StoredOperation & { readonly verb: string; readonly path: string };

export type ApiDocument = {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, StoredOperation | undefined>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
};

const VERBS = ["get", "post", "put", "patch", "delete"] as const;
const SCHEMAS = "#/components/schemas/";
const EXAMPLES = "#/components/examples/";

const files = import.meta.glob<ApiDocument>("../../../../openapi/openapi.json", { import: "default" });

/** Fetches the document. */
export async function loadDocument(): Promise<ApiDocument> {
  const [load] = Object.values(files);
  if (load === undefined) throw new Error("the build has no OpenAPI document");
  return load();
}

/** Every operation, in the order of the tags. */
export function operationsOf({ paths, tags }: ApiDocument): readonly Operation[] {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    VERBS.flatMap((verb) => {
      const stored = item[verb];
      return stored === undefined ? [] : [{ ...stored, verb: verb.toUpperCase(), path }];
    }),
  );
  return tags.flatMap(({ name }) => all.filter((operation) => operation.tags.includes(name)));
}

/** The operations whose path, sentences, parameters or fields have every word of a search. */
export function searchOperations(document: ApiDocument, search: string): readonly Operation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return operationsOf(document).filter((operation) => {
    const text = textOf(document, operation).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The schema behind a reference, and the name of a shared one. */
export function resolve(document: ApiDocument, schema: Schema): { readonly schema: Schema; readonly name: string } {
  const name = schema.$ref?.startsWith(SCHEMAS) === true ? schema.$ref.slice(SCHEMAS.length) : "";
  return { schema: name === "" ? schema : (document.components.schemas[name] ?? {}), name };
}

/** The fields of an object, of the items of a list, or of the variants of a choice. Empty: it has none of its own. */
export function fieldsOf(document: ApiDocument, schema: Schema): readonly [name: string, field: Schema][] {
  const { schema: own } = resolve(document, schema);
  if (own.items !== undefined) return fieldsOf(document, own.items);
  if (own.anyOf !== undefined) {
    const fields = own.anyOf.flatMap((variant) => fieldsOf(document, variant));
    return [...new Map(fields)];
  }
  return Object.entries(own.properties ?? {});
}

/** The type of a field in a few words: `string`, `list of Tool`, `string or null`. */
export function typeOf(document: ApiDocument, schema: Schema): string {
  const { schema: own, name } = resolve(document, schema);
  if (own.anyOf !== undefined) return [...new Set(own.anyOf.map((each) => typeOf(document, each)))].join(" | ");
  if (own.items !== undefined) return `${typeOf(document, own.items)}[]`;
  if (name !== "") return name;
  if (own.const !== undefined) return JSON.stringify(own.const);
  return [own.type ?? "any"].flat().join(" | ");
}

/** The examples of a content, by name. */
export function examplesOf(document: ApiDocument, content: Content): readonly unknown[] {
  if (content.example !== undefined) return [content.example];
  return Object.values(content.examples ?? {}).map(({ value, $ref = "" }) =>
    $ref === "" ? value : document.components.examples?.[$ref.slice(EXAMPLES.length)]?.value,
  );
}

/** The command that calls an operation with its example. */
export function curlOf(document: ApiDocument, operation: Operation, origin: string): string {
  const { verb, path, parameters = [], requestBody, security = [] } = operation;
  const isMerchant = security.some((scheme) => "basic" in scheme);
  const filled = parameters
    .filter((parameter) => parameter.in === "path")
    .reduce(
      (address, { name, example }) =>
        address.replace(`{${name}}`, () => (typeof example === "string" ? example : `{${name}}`)),
      path,
    );
  const [body] = Object.values(requestBody?.content ?? {}).flatMap((content) => examplesOf(document, content));
  const lines = [
    `curl ${verb === "GET" || body !== undefined ? "" : `-X ${verb} `}'${origin}${filled}'`,
    isMerchant ? '  -u "$MERCHANT_API_KEY:$MERCHANT_SECRET_KEY"' : '  -H "Authorization: Bearer $SALDO_API_KEY"',
    ...(body === undefined
      ? []
      : ['  -H "Content-Type: application/json"', `  -d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`]),
  ];
  return lines.join(" \\\n");
}

function textOf(document: ApiDocument, { verb, path, summary, description = "", ...operation }: Operation): string {
  const bodies = Object.values(operation.requestBody?.content ?? {});
  const answers = Object.values(operation.responses["200"]?.content ?? {});
  const names = [...bodies, ...answers].flatMap(({ schema = {} }) => fieldsOf(document, schema).map(([name]) => name));
  const parameters = (operation.parameters ?? []).map(({ name }) => name);
  return [verb, path, summary, description, ...parameters, ...names].join(" ");
}
