// The least protocol there is: a body with the text of one turn, and the events of an answer as they are.

import { type DomainError, UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import type { Conversation } from "../../src/gateway/conversation/conversation.ts";
import type { AnswerFacts, AnswerWriter, ClientProtocol } from "../../src/gateway/conversation/protocol.ts";
import { readStrictObject } from "../../src/gateway/request/read-json.ts";

const EMPTY: Omit<Conversation, "model" | "stream" | "turns"> = {
  system: [],
  tools: [],
  toolChoice: null,
  parallelCalls: null,
  outputCap: null,
  stop: [],
  temperature: null,
  topP: null,
  topK: null,
  effort: null,
  outputFormat: null,
  cacheKey: null,
};

/** `keepsAlive`: whether the protocol has an event for a silent connection. */
export function bareProtocol({ keepsAlive = false } = {}): ClientProtocol & { readonly facts: AnswerFacts[] } {
  const facts: AnswerFacts[] = [];
  return {
    name: "messages",
    facts,
    read(body) {
      const { model, stream, text } = readStrictObject(body);
      if (typeof text !== "string") throw new ValidationError([{ field: "text", rule: "string", message: "is none" }]);
      const turns = [{ role: "user", parts: [{ kind: "text", text }] }] as const;
      return {
        conversation: { ...EMPTY, model: String(model), stream: stream === true, turns },
        writer(given) {
          facts.push(given);
          return writerOf(given.requestId, keepsAlive);
        },
      };
    },
  };
}

function writerOf(requestId: string, keepsAlive: boolean): AnswerWriter {
  const named = (name: string, data: object) => [{ name, data }];
  return {
    begin: () => named("begin", { requestId }),
    write: (event) => named(event.kind, event),
    end: () => named("end", {}),
    fail: (error: DomainError) => named("fail", { code: error.code }),
    keepAlive: keepsAlive ? { name: "ping", data: {} } : null,
    whole(events) {
      for (const event of events) if (event.kind === "input") requireJson(event.text);
      return { requestId, events };
    },
  };
}

/** As protocols do whose calls have objects. */
function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new UpstreamBusy();
  }
}
