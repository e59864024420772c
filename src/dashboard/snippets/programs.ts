// The formats in which the gateway is asked, each with its programs. The names are proper names, the same in every language.

import { chatCurl, chatNode, chatPython } from "./chat-code.ts";
import type { SnippetPlace, SnippetRequest } from "./code.ts";
import { EMBEDDINGS_FORMAT } from "./embeddings-code.ts";
import { geminiCurl, geminiNode, geminiPython } from "./gemini-code.ts";
import { messagesCurl, messagesNode, messagesPython } from "./messages-code.ts";
import { responsesCurl, responsesNode, responsesPython } from "./responses-code.ts";

/** The languages of programs, in their order. */
export const LANGUAGES = [
  { id: "curl", name: "curl" },
  { id: "node", name: "Node.js" },
  { id: "python", name: "Python" },
] as const;

/** A language of programs. */
export type Language = (typeof LANGUAGES)[number]["id"];

type Code = (request: SnippetRequest, place: SnippetPlace) => string;

/** A format with its programs; the id is the one of `native_protocols`. */
export type SnippetFormat = {
  readonly id: string;
  readonly name: string;
  readonly code: Readonly<Record<Language, Code>>;
};

/** The formats, the most common one first. */
export const FORMATS: readonly [SnippetFormat, ...SnippetFormat[]] = [
  { id: "chat", name: "OpenAI Chat Completions", code: { curl: chatCurl, node: chatNode, python: chatPython } },
  {
    id: "responses",
    name: "OpenAI Responses",
    code: { curl: responsesCurl, node: responsesNode, python: responsesPython },
  },
  {
    id: "messages",
    name: "Anthropic Messages",
    code: { curl: messagesCurl, node: messagesNode, python: messagesPython },
  },
  { id: "gemini", name: "Google Gemini", code: { curl: geminiCurl, node: geminiNode, python: geminiPython } },
];

/** The format of an id, of embeddings too; an unknown one is the first. */
export function formatOf(id: string): SnippetFormat {
  return [...FORMATS, EMBEDDINGS_FORMAT].find((format) => format.id === id) ?? FORMATS[0];
}

/** A program by its format and language. */
export type Program = { readonly format: string; readonly language: Language };

/** The program that is shown first. */
export const FIRST_PROGRAM: Program = { format: "chat", language: "curl" };
