import { readStrictObject } from "../../request/read-json.ts";
import type { ClientProtocol } from "../protocol.ts";
import { nativeGemini } from "./native-gemini.ts";
import { type GeminiTarget, readGeminiRequest } from "./read-gemini-request.ts";
import { GeminiAnswerWriter } from "./write-gemini-answer.ts";

/** Google's Gemini API, for one model: its requests name it in their path. */
export function geminiProtocol(target: GeminiTarget): ClientProtocol {
  return {
    name: "gemini",
    read(body) {
      const json = readStrictObject(body);
      const { conversation, showsThoughts } = readGeminiRequest(json, target);
      const native = nativeGemini(json, body);
      return {
        conversation,
        ...(native === null ? {} : { native }),
        writer: (facts) => new GeminiAnswerWriter(facts, { model: target.model, showsThoughts }),
      };
    },
  };
}
