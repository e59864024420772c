// The same request in OpenAI's Chat Completions, with OpenAI's packages.

import { apiUrlOf, postCode, type SnippetPlace, type SnippetRequest } from "./code.ts";
import { openAiNode, openAiPython } from "./program-lines.ts";

/** A command that runs as it is when the key is known, and reads the variable when it is not. */
export function chatCurl(request: SnippetRequest, place: SnippetPlace): string {
  return postCode(`${apiUrlOf(place.origin)}/chat/completions`, chatBody(request), place);
}

/** A module for Node.js. */
export function chatNode(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? ["for await (const piece of answer) {", '  process.stdout.write(piece.choices[0]?.delta?.content ?? "");', "}"]
    : ["console.log(answer.choices[0].message.content);"];
  return openAiNode(origin, { call: "chat.completions.create", fields: chatBody(request), end });
}

/** A program for Python. */
export function chatPython(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? [
        "for piece in answer:",
        "    if piece.choices:",
        '        print(piece.choices[0].delta.content or "", end="", flush=True)',
      ]
    : ["print(answer.choices[0].message.content)"];
  return openAiPython(origin, { call: "chat.completions.create", fields: chatBody(request), end });
}

/** The request with OpenAI's field names. */
export function chatBody({ model, messages, temperature, maxTokens, stream }: SnippetRequest) {
  return {
    model,
    messages,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(stream ? { stream } : {}),
  };
}
