// The same request in OpenAI's Responses, with OpenAI's packages.

import {
  apiUrlOf,
  KEY_VARIABLE,
  nodeFields,
  postCode,
  pythonFields,
  type SnippetPlace,
  type SnippetRequest,
} from "./code.ts";

/** A command for a terminal. */
export function responsesCurl(request: SnippetRequest, place: SnippetPlace): string {
  return postCode(`${apiUrlOf(place.origin)}/responses`, bodyOf(request), place);
}

/** A module for Node.js. */
export function responsesNode(request: SnippetRequest, { origin }: SnippetPlace): string {
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
    ...nodeFields(bodyOf(request)),
    "});",
    ...end,
  ].join("\n");
}

/** A program for Python. */
export function responsesPython(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? [
        "for event in answer:",
        '    if event.type == "response.output_text.delta":',
        '        print(event.delta, end="", flush=True)',
      ]
    : ["print(answer.output_text)"];
  return [
    "# pip install openai",
    "import os",
    "from openai import OpenAI",
    "",
    "client = OpenAI(",
    `    base_url=${JSON.stringify(apiUrlOf(origin))},`,
    `    api_key=os.environ["${KEY_VARIABLE}"],`,
    ")",
    "answer = client.responses.create(",
    ...pythonFields(bodyOf(request)),
    ")",
    ...end,
  ].join("\n");
}

function bodyOf({ model, messages, temperature, maxTokens, stream }: SnippetRequest) {
  return {
    model,
    input: messages,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    store: false,
    ...(stream ? { stream: true } : {}),
  };
}
