// The same request in Anthropic's Messages, with Anthropic's packages. It has no temperature, which Anthropic's newer models
// refuse.

import { KEY_VARIABLE, nodeFields, postCode, pythonFields, type SnippetPlace, type SnippetRequest } from "./code.ts";

/** Messages have no default for the length of an answer. */
const DEFAULT_MAX_TOKENS = 1024;

/** A command for a terminal. */
export function messagesCurl(request: SnippetRequest, place: SnippetPlace): string {
  return postCode(`${place.origin}/v1/messages`, bodyOf(request), place, ["anthropic-version: 2023-06-01"]);
}

/** A module for Node.js. */
export function messagesNode(request: SnippetRequest, { origin }: SnippetPlace): string {
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
    ...nodeFields(bodyOf(request)),
    "});",
    ...end,
  ].join("\n");
}

/** A program for Python. */
export function messagesPython(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? [
        "for event in answer:",
        '    if event.type == "content_block_delta" and event.delta.type == "text_delta":',
        '        print(event.delta.text, end="", flush=True)',
      ]
    : ["for block in answer.content:", '    if block.type == "text":', "        print(block.text)"];
  return [
    "# pip install anthropic",
    "import os",
    "from anthropic import Anthropic",
    "",
    "client = Anthropic(",
    `    base_url=${JSON.stringify(origin)},`,
    `    api_key=os.environ["${KEY_VARIABLE}"],`,
    ")",
    "answer = client.messages.create(",
    ...pythonFields(bodyOf(request)),
    ")",
    ...end,
  ].join("\n");
}

function bodyOf({ model, messages, maxTokens, stream }: SnippetRequest) {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  return {
    model,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
    messages: messages.filter(({ role }) => role !== "system"),
    ...(stream ? { stream: true } : {}),
  };
}
