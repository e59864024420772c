// The same request in Google's Gemini API, with Google's packages. The packages add the version to the address themselves.

import { postCode, type SnippetPlace, type SnippetRequest } from "./code.ts";
import { NODE_KEY, nodeProgram, PYTHON_KEY, pythonProgram } from "./program-lines.ts";

/** A command for a terminal. */
export function geminiCurl(request: SnippetRequest, place: SnippetPlace): string {
  const model = request.model.split("/").map(encodeURIComponent).join("/");
  const method = request.stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return postCode(`${place.origin}/v1beta/models/${model}:${method}`, geminiBody(request), place);
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
  return nodeProgram({
    install: "@google/genai",
    imports: 'import { GoogleGenAI } from "@google/genai";',
    client: "GoogleGenAI",
    options: [`apiKey: ${NODE_KEY}`, `httpOptions: { baseUrl: ${JSON.stringify(origin)} }`],
    call: `models.${request.stream ? "generateContentStream" : "generateContent"}`,
    fields: { model: request.model, contents: contentsOf(request), ...config },
    end,
  });
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
  return pythonProgram({
    install: "google-genai",
    imports: "from google import genai",
    client: "genai.Client",
    options: [`api_key=${PYTHON_KEY}`, `http_options={"base_url": ${JSON.stringify(origin)}}`],
    call: `models.${request.stream ? "generate_content_stream" : "generate_content"}`,
    fields: { model: request.model, contents: contentsOf(request), ...config },
    end,
  });
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
export function geminiBody(request: SnippetRequest) {
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
