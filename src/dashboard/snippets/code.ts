// The same request to the gateway in curl, Node.js and Python. Every value of a request becomes a literal of the
// language: a model id or a text that looks like code stays a text.

/** One message of OpenAI's JSON format. */
export type SnippetMessage = { readonly role: "system" | "user" | "assistant"; readonly content: string };

/** The request of the code. */
export type SnippetRequest = {
  readonly model: string;
  readonly messages: readonly SnippetMessage[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly stream?: boolean;
};

/** Where the code runs: our address and, right after it was made, the key itself. */
export type SnippetPlace = { readonly origin: string; readonly secret: string | null };

/** The variable that every snippet reads the key from. */
export const KEY_VARIABLE = "SALDO_API_KEY";

/** The base URL for clients of the OpenAI format. */
export function apiUrlOf(origin: string): string {
  return `${origin}/v1`;
}

/** A line that sets the key for the programs of this terminal. */
export function exportLine(secret: string | null): string {
  return `export ${KEY_VARIABLE}=${shellWord(secret ?? "gw_…")}`;
}

/** A command that runs as it is when the key is known, and reads the variable when it is not. */
export function curlCode(request: SnippetRequest, place: SnippetPlace): string {
  return postCode(`${apiUrlOf(place.origin)}/chat/completions`, bodyOf(request), place);
}

/** A request for the vector of a text. */
export function embeddingsCode(model: string, place: SnippetPlace): string {
  return postCode(`${apiUrlOf(place.origin)}/embeddings`, { model, input: "Selamat pagi" }, place);
}

/** A command that posts a body, with more headers where a format has them. */
export function postCode(url: string, body: object, { secret }: SnippetPlace, headers: readonly string[] = []): string {
  const all = [`Authorization: Bearer ${secret ?? `$${KEY_VARIABLE}`}`, ...headers, "Content-Type: application/json"];
  const lines = [
    `curl ${shellWord(url)}`,
    ...all.map((each) => `  -H "${each}"`),
    `  -d ${quoted(JSON.stringify(body))}`,
  ];
  return lines.join(" \\\n");
}

/** A module for Node.js with OpenAI's package. */
export function nodeCode(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? ["for await (const piece of answer) {", '  process.stdout.write(piece.choices[0]?.delta?.content ?? "");', "}"]
    : ["console.log(answer.choices[0].message.content);"];
  return [
    "// npm install openai",
    'import { env } from "node:process";',
    'import OpenAI from "openai";',
    "",
    "const client = new OpenAI({",
    `  baseURL: ${JSON.stringify(apiUrlOf(origin))},`,
    `  apiKey: env.${KEY_VARIABLE},`,
    "});",
    "const answer = await client.chat.completions.create({",
    ...nodeFields(bodyOf(request)),
    "});",
    ...end,
  ].join("\n");
}

/** A program for Python with OpenAI's package. */
export function pythonCode(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? [
        "for piece in answer:",
        "    if piece.choices:",
        '        print(piece.choices[0].delta.content or "", end="", flush=True)',
      ]
    : ["print(answer.choices[0].message.content)"];
  return [
    "# pip install openai",
    "import os",
    "from openai import OpenAI",
    "",
    "client = OpenAI(",
    `    base_url=${JSON.stringify(apiUrlOf(origin))},`,
    `    api_key=os.environ["${KEY_VARIABLE}"],`,
    ")",
    "answer = client.chat.completions.create(",
    ...pythonFields(bodyOf(request)),
    ")",
    ...end,
  ].join("\n");
}

/** A word of a shell's command line: bare where no character is special, else in quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The request with OpenAI's field names. */
function bodyOf({ model, messages, temperature, maxTokens, stream }: SnippetRequest) {
  return {
    model,
    messages,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(stream ? { stream } : {}),
  };
}

/** The lines of an object's fields in JavaScript. JSON is a literal there. */
export function nodeFields(fields: object): string[] {
  return Object.entries(fields).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`);
}

/** The lines of a call's arguments in Python. */
export function pythonFields(fields: object): string[] {
  return Object.entries(fields).map(([name, value]) => `    ${name}=${pythonLiteral(value)},`);
}

/** JSON is a literal of Python, too, but for these two. */
function pythonLiteral(value: unknown): string {
  return value === true ? "True" : value === false ? "False" : JSON.stringify(value);
}
