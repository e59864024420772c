// What Google refuses in a request: our own requests must never have it. Its JSON is checked strictly, so any unknown member is one.

import type { Json } from "./gemini-wire.ts";

const FIELDS = new Set("contents systemInstruction tools toolConfig generationConfig safetySettings labels".split(" "));
const CONFIG = new Set(
  "maxOutputTokens temperature topP topK stopSequences responseMimeType responseJsonSchema thinkingConfig candidateCount".split(
    " ",
  ),
);
const PARTS = new Set("text thought thoughtSignature functionCall functionResponse inlineData".split(" "));
const NAME = /^[a-zA-Z_][\w.:-]{0,127}$/;
const BASE64 = /^[\w+/=-]+$/;
const LOST_SIGNATURE = "skip_thought_signature_validator";

/** What a request may refer to: the signatures that were given out, and whether the model thinks. */
export type CheckFacts = { readonly isOurs: (signature: string) => boolean; readonly thinks: boolean };

/** Why a request is refused, or null. */
export function refusalOf(body: Json, facts: CheckFacts): string | null {
  for (const found of problemsOf(body, facts)) return found;
  return null;
}

function* problemsOf(body: Json, facts: CheckFacts): Generator<string> {
  yield* unknownIn(body, FIELDS, "");
  const config = (body["generationConfig"] ?? {}) as Json;
  yield* unknownIn(config, CONFIG, "generation_config");
  if (!Number.isInteger(config["maxOutputTokens"])) yield "generation_config.max_output_tokens must be sent.";
  if (((config["stopSequences"] ?? []) as string[]).length > 5) yield "The number of stop sequences exceeds 5.";
  if ((config["thinkingConfig"] ?? null) !== null && !facts.thinks) yield "Thinking is not enabled for this model.";
  yield* toolProblems(body);
  yield* contentProblems(body["contents"] as Json[] | undefined, facts);
}

function* unknownIn(object: Json, known: ReadonlySet<string>, where: string): Generator<string> {
  for (const name of Object.keys(object)) {
    if (!known.has(name) && object[name] !== null)
      yield `Invalid JSON payload received. Unknown name "${name}" at '${where}': Cannot find field.`;
  }
}

function* toolProblems({ tools, toolConfig }: Json): Generator<string> {
  const names = new Set<unknown>();
  for (const { functionDeclarations } of (tools ?? []) as Json[]) {
    for (const declaration of (functionDeclarations ?? []) as Json[]) {
      const name = String(declaration["name"]);
      if (!NAME.test(name)) yield `Invalid function name: ${name}.`;
      if (names.has(name)) yield `Duplicate function declaration found: ${name}.`;
      names.add(name);
      // A schema of Google's own kind has its members alone; a JSON schema is any JSON, and Gemini CLI sends it with its `$schema`.
      if (JSON.stringify(declaration["parameters"] ?? {}).includes('"$schema"'))
        yield 'Unknown name "$schema": Cannot find field.';
    }
  }
  const calling = (toolConfig as Json | undefined)?.["functionCallingConfig"] as Json | undefined;
  for (const name of (calling?.["allowedFunctionNames"] ?? []) as string[]) {
    if (!names.has(name)) yield `allowed_function_names: ${name} is not declared.`;
  }
}

function* contentProblems(contents: readonly Json[] | undefined, facts: CheckFacts): Generator<string> {
  if (contents === undefined || contents.length === 0) yield "contents is not specified";
  let open: unknown[] = [];
  for (const [at, { role, parts }] of (contents ?? []).entries()) {
    if (role !== "user" && role !== "model") yield "Please use a valid role: user, model.";
    if (at === 0 && role !== "user") yield "Please ensure that multiturn requests begin with a user turn.";
    const list = (parts ?? []) as Json[];
    if (list.length === 0) yield `contents[${at}].parts must not be empty.`;
    for (const part of list) yield* partProblems(part, facts);
    yield* resultProblems(list, open);
    open = role === "model" ? namesIn(list, "functionCall") : [];
    if (open.length > 0 && facts.thinks) {
      const first = list.find((part) => part["functionCall"] !== undefined);
      if ((first?.["thoughtSignature"] ?? null) === null)
        yield "Function call is missing a thought_signature in functionCall parts.";
    }
  }
  if (open.length > 0) yield "Please ensure that a function call turn is followed by its responses.";
}

/** As many results as there are calls in the turn before. Only those of one tool are matched by their order. */
function* resultProblems(parts: readonly Json[], open: readonly unknown[]): Generator<string> {
  const names = namesIn(parts, "functionResponse");
  if (sorted(names) === sorted(open)) return;
  yield "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
}

const sorted = (names: readonly unknown[]): string =>
  JSON.stringify(names.map(String).toSorted((a, b) => a.localeCompare(b)));

function namesIn(parts: readonly Json[], member: string): unknown[] {
  return parts.flatMap((part) => (part[member] === undefined ? [] : [(part[member] as Json)["name"]]));
}

function* partProblems(part: Json, { isOurs }: CheckFacts): Generator<string> {
  yield* unknownIn(part, PARTS, "contents.parts");
  const signature = (part["thoughtSignature"] ?? undefined) as string | undefined;
  if (signature !== undefined && !BASE64.test(signature)) yield "Invalid value at 'thought_signature' (TYPE_BYTES).";
  if (signature !== undefined && signature !== LOST_SIGNATURE && !isOurs(signature))
    yield "Corrupted thought signature.";
  const data = ["text", "functionCall", "functionResponse", "inlineData"].filter((name) => part[name] !== undefined);
  if (data.length !== 1) yield "A part must have one initialized field.";
  const response = (part["functionResponse"] as Json | undefined)?.["response"];
  if (part["functionResponse"] !== undefined && (typeof response !== "object" || response === null)) {
    yield "function_response.response must be an object.";
  }
}
