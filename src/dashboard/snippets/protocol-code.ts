// The same request in the formats beside chat completions: Anthropic's Messages and OpenAI's Responses, with their makers' packages.

import { apiUrlOf, KEY_VARIABLE, type SnippetPlace, type SnippetRequest } from "./code.ts";

/** Messages have no default for the length of an answer. */
const DEFAULT_MAX_TOKENS = 1024;

/** A module for Node.js with Anthropic's package. It has no temperature, which Anthropic's newer models refuse. */
export function anthropicCode(request: SnippetRequest, { origin }: SnippetPlace): string {
  const system = request.messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const fields = {
    model: request.model,
    max_tokens: request.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
    messages: request.messages.filter(({ role }) => role !== "system"),
    ...(request.stream ? { stream: true } : {}),
  };
  const end = request.stream
    ? [
        "for await (const event of answer) {",
        '  if (event.type === "content_block_delta" && event.delta.type === "text_delta") {',
        "    process.stdout.write(event.delta.text);",
        "  }",
        "}",
      ]
    : ["for (const block of answer.content) {", '  if (block.type === "text") console.log(block.text);', "}"];
  return [
    "// npm install @anthropic-ai/sdk",
    'import { env } from "node:process";',
    'import Anthropic from "@anthropic-ai/sdk";',
    "",
    "const client = new Anthropic({",
    `  baseURL: ${JSON.stringify(origin)},`,
    `  authToken: env.${KEY_VARIABLE},`,
    "  apiKey: null,",
    "});",
    "const answer = await client.messages.create({",
    ...linesOf(fields),
    "});",
    ...end,
  ].join("\n");
}

/** A module for Node.js with OpenAI's package and its Responses. */
export function responsesCode(request: SnippetRequest, { origin }: SnippetPlace): string {
  const fields = {
    model: request.model,
    input: request.messages,
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { max_output_tokens: request.maxTokens }),
    store: false,
    ...(request.stream ? { stream: true } : {}),
  };
  const end = request.stream
    ? [
        "for await (const event of answer) {",
        '  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);',
        "}",
      ]
    : ["console.log(answer.output_text);"];
  return [
    "// npm install openai",
    'import { env } from "node:process";',
    'import OpenAI from "openai";',
    "",
    "const client = new OpenAI({",
    `  baseURL: ${JSON.stringify(apiUrlOf(origin))},`,
    `  apiKey: env.${KEY_VARIABLE},`,
    "});",
    "const answer = await client.responses.create({",
    ...linesOf(fields),
    "});",
    ...end,
  ].join("\n");
}

function linesOf(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`);
}
