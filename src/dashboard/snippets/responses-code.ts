// The same request in OpenAI's Responses, with OpenAI's packages.

import { apiUrlOf, postCode, type SnippetPlace, type SnippetRequest } from "./code.ts";
import { openAiNode, openAiPython } from "./program-lines.ts";

/** A command for a terminal. */
export function responsesCurl(request: SnippetRequest, place: SnippetPlace): string {
  return postCode(`${apiUrlOf(place.origin)}/responses`, responsesBody(request), place);
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
  return openAiNode(origin, { call: "responses.create", fields: responsesBody(request), end });
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
  return openAiPython(origin, { call: "responses.create", fields: responsesBody(request), end });
}

/** The request with the field names of OpenAI's Responses. */
export function responsesBody({ model, messages, temperature, maxTokens, stream }: SnippetRequest) {
  return {
    model,
    input: messages,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    store: false,
    ...(stream ? { stream: true } : {}),
  };
}
