// The lines of a program around one call: packages, a client, the call with its fields, and the use of its answer. Every value
// becomes a literal of the language: a model id or a text that looks like code stays a text.

import { apiUrlOf, KEY_VARIABLE } from "./code.ts";

/** What differs from package to package. */
export type ProgramParts = {
  /** The package's name where it is installed from. */
  readonly install: string;
  /** The line that imports it. */
  readonly imports: string;
  /** How the client is made, without `new`. */
  readonly client: string;
  /** The client's options, a line each. */
  readonly options: readonly string[];
  /** The method that is called, such as `messages.create`. */
  readonly call: string;
  readonly fields: object;
  /** The lines that print the answer. */
  readonly end: readonly string[];
};

/** A module for Node.js. */
export function nodeProgram({ install, imports, client, options, call, fields, end }: ProgramParts): string {
  return [
    `// npm install ${install}`,
    'import { env } from "node:process";',
    imports,
    "",
    `const client = new ${client}({`,
    ...options.map((option) => `  ${option},`),
    "});",
    `const answer = await client.${call}({`,
    ...Object.entries(fields).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`),
    "});",
    ...end,
  ].join("\n");
}

/** A program for Python. */
export function pythonProgram({ install, imports, client, options, call, fields, end }: ProgramParts): string {
  return [
    `# pip install ${install}`,
    "import os",
    imports,
    "",
    `client = ${client}(`,
    ...options.map((option) => `    ${option},`),
    ")",
    `answer = client.${call}(`,
    ...Object.entries(fields).map(([name, value]) => `    ${name}=${pythonLiteral(value)},`),
    ")",
    ...end,
  ].join("\n");
}

/** The key as a program for Node.js reads it. */
export const NODE_KEY = `env.${KEY_VARIABLE}`;
/** The key as a program for Python reads it. */
export const PYTHON_KEY = `os.environ["${KEY_VARIABLE}"]`;

type OpenAiParts = Pick<ProgramParts, "call" | "fields" | "end">;

/** A module for Node.js with OpenAI's package. */
export function openAiNode(origin: string, parts: OpenAiParts): string {
  return nodeProgram({
    install: "openai",
    imports: 'import OpenAI from "openai";',
    client: "OpenAI",
    options: [`baseURL: ${JSON.stringify(apiUrlOf(origin))}`, `apiKey: ${NODE_KEY}`],
    ...parts,
  });
}

/** A program for Python with OpenAI's package. */
export function openAiPython(origin: string, parts: OpenAiParts): string {
  return pythonProgram({
    install: "openai",
    imports: "from openai import OpenAI",
    client: "OpenAI",
    options: [`base_url=${JSON.stringify(apiUrlOf(origin))}`, `api_key=${PYTHON_KEY}`],
    ...parts,
  });
}

/** JSON is a literal of Python, too, but for these two. */
function pythonLiteral(value: unknown): string {
  return value === true ? "True" : value === false ? "False" : JSON.stringify(value);
}
