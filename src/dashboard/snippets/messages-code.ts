// The same request in Anthropic's Messages, with Anthropic's packages. It has no temperature, which Anthropic's newer models
// refuse.

import { postCode, type SnippetPlace, type SnippetRequest } from "./code.ts";
import { NODE_KEY, nodeProgram, PYTHON_KEY, pythonProgram } from "./program-lines.ts";

/** Messages have no default for the length of an answer. */
const DEFAULT_MAX_TOKENS = 1024;

/** A command for a terminal. */
export function messagesCurl(request: SnippetRequest, place: SnippetPlace): string {
  return postCode(`${place.origin}/v1/messages`, messagesBody(request), place, ["anthropic-version: 2023-06-01"]);
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
  return nodeProgram({
    install: "@anthropic-ai/sdk",
    imports: 'import Anthropic from "@anthropic-ai/sdk";',
    client: "Anthropic",
    options: [`baseURL: ${JSON.stringify(origin)}`, `authToken: ${NODE_KEY}`, "apiKey: null"],
    call: "messages.create",
    fields: messagesBody(request),
    end,
  });
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
  return pythonProgram({
    install: "anthropic",
    imports: "from anthropic import Anthropic",
    client: "Anthropic",
    options: [`base_url=${JSON.stringify(origin)}`, `api_key=${PYTHON_KEY}`],
    call: "messages.create",
    fields: messagesBody(request),
    end,
  });
}

/** The request with Anthropic's field names. */
export function messagesBody({ model, messages, maxTokens, stream }: SnippetRequest) {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  return {
    model,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
    messages: messages.filter(({ role }) => role !== "system"),
    ...(stream ? { stream: true } : {}),
  };
}
