// How many tokens a conversation has, for clients that ask before they send it. It is an estimate, free and local: a client that
// decides by it when to shorten a conversation needs rather too many than too few.

import { countTokens, type Slices } from "../metering/estimate.ts";
import { SOUND_CHARACTERS_PER_TOKEN, TOKENS_OF_A_PICTURE } from "../metering/output-text.ts";
import { isObject } from "../request/field-rules.ts";
import { parseObject } from "../request/parse-object.ts";
import { type CallPart, type Conversation, flatName, fullDescription, type Part } from "./conversation.ts";

/** What a provider counts beside the tokens of texts. */
export type CountRules = {
  /** The provider's tokens for one of OpenAI's: of texts, and of tools and calls. */
  readonly perToken: number;
  readonly perTokenOfTools: number;
  /** More where a word begins inside of a name, such as `read_file` or `readFile`. */
  readonly perInnerWord: number;
  readonly before: number;
  readonly aroundAnInstruction: number;
  readonly aroundATurn: number;
  readonly aroundATool: number;
  readonly aroundACall: number;
  readonly aroundAResult: number;
  readonly aroundAParameter: number;
};

/** A text up to a quarter of a MiB is counted whole. */
const MANY_SLICES: Slices = { characters: 512, most: 512 };
/** Providers count the pictures of pages as well, so a page of 75 kB has about 2,300 tokens. */
const DOCUMENT_CHARACTERS_PER_TOKEN = 40;
const INNER_WORD = /_|[a-z][A-Z]/g;

/** The estimated tokens of the whole input. */
export async function countConversation(
  { system, turns, tools, outputFormat }: Conversation,
  rules: CountRules,
): Promise<number> {
  const parts = [...system, ...turns.flatMap((turn) => turn.parts)];
  const ofTools = [
    ...tools.map(textOfTool),
    ...parts.flatMap((part) => (part.kind === "call" ? textOfCall(part) : [])),
  ];
  if (outputFormat?.kind === "schema") ofTools.push(`${outputFormat.name}\n${JSON.stringify(outputFormat.schema)}`);
  const texts = await tokensOf(parts.map(textOf), rules.perToken, rules);
  const called = await tokensOf(ofTools, rules.perTokenOfTools, rules);
  return Math.ceil(texts + called + around({ system, turns, tools }, parts, rules)) + sum(parts.map(mediaTokensOf));
}

async function tokensOf(texts: readonly string[], perToken: number, { perInnerWord }: CountRules): Promise<number> {
  const text = texts.filter((each) => each !== "").join("\n");
  const innerWords = perInnerWord === 0 ? 0 : (text.match(INNER_WORD)?.length ?? 0) * perInnerWord;
  return (await countTokens(text, MANY_SLICES)) * perToken + innerWords;
}

function around(
  { system, turns, tools }: Pick<Conversation, "system" | "turns" | "tools">,
  parts: readonly Part[],
  rules: CountRules,
): number {
  const calls = parts.filter((part) => part.kind === "call");
  return (
    rules.before +
    rules.aroundAnInstruction * system.length +
    rules.aroundATurn * turns.length +
    rules.aroundATool * tools.length +
    rules.aroundACall * calls.length +
    rules.aroundAParameter * sum(calls.map(parametersOf)) +
    rules.aroundAResult * parts.filter(({ kind }) => kind === "result").length
  );
}

function parametersOf({ input }: CallPart): number {
  const parsed = parseObject(input);
  return isObject(parsed) ? Object.keys(parsed).length : 1;
}

function textOfTool(tool: Conversation["tools"][number]): string {
  const schema = tool.schema === null ? "" : JSON.stringify(tool.schema);
  return [flatName(tool), fullDescription(tool), schema].filter((each) => each !== "").join("\n");
}

function textOfCall({ tool, input }: CallPart): string {
  return `${flatName(tool)}\n${input}`;
}

function textOf(part: Part): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return part.text;
    case "result":
      return part.parts.map(textOf).join("\n");
    case "call":
    case "image":
    case "document":
    case "audio":
      break;
  }
  return "";
}

function mediaTokensOf(part: Part): number {
  switch (part.kind) {
    case "image":
      return TOKENS_OF_A_PICTURE;
    case "document":
      return Math.ceil(part.data.length / DOCUMENT_CHARACTERS_PER_TOKEN);
    case "audio":
      return Math.ceil(part.data.length / SOUND_CHARACTERS_PER_TOKEN);
    case "result":
      return sum(part.parts.map(mediaTokensOf));
    case "text":
    case "reasoning":
    case "call":
      break;
  }
  return 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
