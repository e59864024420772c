// How many tokens a conversation has, for clients that ask before they send it. It is an estimate, free and local: a client that
// decides by it when to shorten a conversation needs rather too many than too few.

import { countTokens } from "../metering/estimate.ts";
import { SOUND_CHARACTERS_PER_TOKEN, TOKENS_OF_A_PICTURE } from "../metering/output-text.ts";
import { type Conversation, flatName, fullDescription, type Part } from "./conversation.ts";

const TOKENS_AROUND_A_TURN = 4;
const TOKENS_AROUND_A_TOOL = 8;
/** Providers count the pictures of pages as well, so a page of 75 kB has about 2,300 tokens. */
const DOCUMENT_CHARACTERS_PER_TOKEN = 40;

/** The estimated tokens of the whole input. */
export async function countConversation({ system, turns, tools, outputFormat }: Conversation): Promise<number> {
  const parts = [...system, ...turns.flatMap((turn) => turn.parts)];
  const texts = parts.map(textOf);
  for (const tool of tools) {
    const schema = tool.schema === null ? "" : JSON.stringify(tool.schema);
    texts.push(flatName(tool), fullDescription(tool), schema);
  }
  if (outputFormat?.kind === "schema") texts.push(outputFormat.name, JSON.stringify(outputFormat.schema));
  const text = texts.filter((each) => each !== "").join("\n");
  const around = TOKENS_AROUND_A_TURN * (turns.length + system.length) + TOKENS_AROUND_A_TOOL * tools.length;
  return (await countTokens(text)) + around + parts.reduce((tokens, part) => tokens + mediaTokensOf(part), 0);
}

function textOf(part: Part): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return part.text;
    case "call":
      return `${flatName(part.tool)}\n${part.input}`;
    case "result":
      return part.parts.map(textOf).join("\n");
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
      return part.parts.reduce((tokens, each) => tokens + mediaTokensOf(each), 0);
    case "text":
    case "reasoning":
    case "call":
      break;
  }
  return 0;
}
