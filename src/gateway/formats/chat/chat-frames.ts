import type { FramePaths } from "../../stream/frames.ts";

const DELTA = "choices.[].delta.";
const TEXTS = [
  "content",
  "content.[].text",
  "content.[].thinking.[].text",
  "reasoning_content",
  "reasoning",
  "reasoning_details.[].text",
  "refusal",
  "tool_calls.[].function.arguments",
  "tool_calls.[].custom.input",
];

/** Where the strings of a chunk lie. OpenAI pads each chunk to another length. */
export const CHAT_FRAMES: FramePaths = {
  texts: new Set(TEXTS.map((name) => `${DELTA}${name}`)),
  padding: new Set(["obfuscation"]),
  names: new Map([
    ["id", "id"],
    ["model", "model"],
  ]),
};
