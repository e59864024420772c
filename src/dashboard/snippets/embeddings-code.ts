// A request for the vector of a text, with OpenAI's packages. The text is the last message of the request.

import { apiUrlOf, postCode, type SnippetPlace, type SnippetRequest } from "./code.ts";
import { openAiNode, openAiPython } from "./program-lines.ts";

const CALL = "embeddings.create";

function embeddingsCurl(request: SnippetRequest, place: SnippetPlace): string {
  return postCode(`${apiUrlOf(place.origin)}/embeddings`, bodyOf(request), place);
}

function embeddingsNode(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = ["console.log(answer.data[0].embedding);"];
  return openAiNode(origin, { call: CALL, fields: bodyOf(request), end });
}

function embeddingsPython(request: SnippetRequest, { origin }: SnippetPlace): string {
  return openAiPython(origin, { call: CALL, fields: bodyOf(request), end: ["print(answer.data[0].embedding)"] });
}

/** The body that is sent. */
function bodyOf({ model, messages }: SnippetRequest) {
  return { model, input: messages.slice(-1).map(({ content }) => content) };
}

/** The format of embeddings with its programs. It is no format of a chat. */
export const EMBEDDINGS_FORMAT = {
  id: "embeddings",
  name: "OpenAI Embeddings",
  code: { curl: embeddingsCurl, node: embeddingsNode, python: embeddingsPython },
} as const;

/** The request that pages of models show. */
export function exampleOfEmbeddings(model: string): SnippetRequest {
  return { model, messages: [{ role: "user", content: "Selamat pagi" }] };
}
