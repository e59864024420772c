// The same request in Google's Gemini API, with Google's packages. The packages add the version to the address themselves.

import { KEY_VARIABLE, nodeFields, postCode, pythonFields, type SnippetPlace, type SnippetRequest } from "./code.ts";

/** A command for a terminal. */
export function geminiCurl(request: SnippetRequest, place: SnippetPlace): string {
  const model = request.model.split("/").map(encodeURIComponent).join("/");
  const method = request.stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return postCode(`${place.origin}/v1beta/models/${model}:${method}`, restBody(request), place);
}

/** A module for Node.js. */
export function geminiNode(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? ["for await (const piece of answer) {", '  process.stdout.write(piece.text ?? "");', "}"]
    : ["console.log(answer.text);"];
  const config = configOf(request, {
    system: "systemInstruction",
    temperature: "temperature",
    maxTokens: "maxOutputTokens",
  });
  return [
    "// npm install @google/genai",
    'import { env } from "node:process";',
    'import { GoogleGenAI } from "@google/genai";',
    "",
    "const client = new GoogleGenAI({",
    `  apiKey: env.${KEY_VARIABLE},`,
    `  httpOptions: { baseUrl: ${JSON.stringify(origin)} },`,
    "});",
    `const answer = await client.models.${request.stream ? "generateContentStream" : "generateContent"}({`,
    ...nodeFields({ model: request.model, contents: contentsOf(request), ...config }),
    "});",
    ...end,
  ].join("\n");
}

/** A program for Python. */
export function geminiPython(request: SnippetRequest, { origin }: SnippetPlace): string {
  const end = request.stream
    ? ["for piece in answer:", '    print(piece.text or "", end="", flush=True)']
    : ["print(answer.text)"];
  const config = configOf(request, {
    system: "system_instruction",
    temperature: "temperature",
    maxTokens: "max_output_tokens",
  });
  return [
    "# pip install google-genai",
    "import os",
    "from google import genai",
    "",
    "client = genai.Client(",
    `    api_key=os.environ["${KEY_VARIABLE}"],`,
    `    http_options={"base_url": ${JSON.stringify(origin)}},`,
    ")",
    `answer = client.models.${request.stream ? "generate_content_stream" : "generate_content"}(`,
    ...pythonFields({ model: request.model, contents: contentsOf(request), ...config }),
    ")",
    ...end,
  ].join("\n");
}

function contentsOf({ messages }: SnippetRequest) {
  return messages
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => ({ role: role === "user" ? "user" : "model", parts: [{ text: content }] }));
}

/** The fields of a package's `config`, by the names they have there. */
type ConfigNames = { readonly system: string; readonly temperature: string; readonly maxTokens: string };

/** The options of a request as the packages have them: all in one object, absent where there are none. */
function configOf(request: SnippetRequest, names: ConfigNames): object {
  const system = systemOf(request);
  const config = {
    ...(system === undefined ? {} : { [names.system]: system }),
    ...(request.temperature === undefined ? {} : { [names.temperature]: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { [names.maxTokens]: request.maxTokens }),
  };
  return Object.keys(config).length === 0 ? {} : { config };
}

/** The body as the API has it: the model is in the path, and the texts of the system are apart. */
function restBody(request: SnippetRequest) {
  const { temperature, maxTokens } = request;
  const system = systemOf(request);
  const config = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
  };
  return {
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: contentsOf(request),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
  };
}

function systemOf({ messages }: SnippetRequest): string | undefined {
  const texts = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  return texts.length === 0 ? undefined : texts.join("\n\n");
}
