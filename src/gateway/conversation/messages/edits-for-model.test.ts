// What a model does not take of a Messages request, where the client's own bytes are sent on.

import { describe, expect, it } from "vitest";
import type { Accepts } from "../../../catalog/catalog-model.ts";
import { ValidationError } from "../../../kernel/errors.ts";
import type { NativeFacts } from "../native-request.ts";
import { messagesProtocol } from "./messages-protocol.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { writeMessagesRequest } from "./write-messages-request.ts";

type Json = { readonly [name: string]: unknown };

const ADAPTIVE: Accepts = { thinking: "adaptive", sampling: false, prefill: false, cacheMarkers: true };
const MANUAL: Accepts = { thinking: "manual", sampling: true, prefill: true, cacheMarkers: true };
const NONE: Accepts = { thinking: "none", sampling: true, prefill: true, cacheMarkers: true };
const FACTS: NativeFacts = {
  origin: "claude",
  model: "m",
  outputBound: 40_000,
  userTag: "tag",
  takesServiceTier: false,
  knowsSafeguards: true,
  headers: {},
  contextLength: 200_000,
  canThink: true,
  accepts: null,
};
const HI = { role: "user", content: "hi" };
const BODY = { model: "acme/m", max_tokens: 40_000, messages: [HI] };
const bytesOf = (json: Json): Buffer => Buffer.from(JSON.stringify({ ...BODY, ...json }));

function sent(more: Json, accepts: Accepts | null, space = 0): Json {
  const body = Buffer.from(JSON.stringify({ ...BODY, ...more }, null, space));
  const { native } = messagesProtocol.read(body);
  const {
    model: _,
    metadata: __,
    ...rest
  } = JSON.parse(native?.write({ ...FACTS, accepts }).body.toString("utf8") ?? "") as Json;
  return rest;
}

function problemOf(more: Json, accepts: Accepts | null, outputBound = 40_000): string | null {
  try {
    messagesProtocol.read(bytesOf(more)).native?.check({ accepts, outputBound });
    return null;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field, rule }) => `${field} ${rule}`).join();
  }
}

const thinking = (type: string, more: Json = {}): Json => ({ thinking: { type, ...more } });
const BUDGET = thinking("enabled", { budget_tokens: 9_000 });
const effort = (level: string, more: Json = {}): Json => ({ output_config: { effort: level, ...more } });
const WITHOUT_MODEL = { max_tokens: 40_000, messages: [HI] };

describe("a request", () => {
  it.each<[string, Json, Accepts | null, Json]>([
    ["sampling values", { temperature: 1, top_p: 0.5, top_k: 3 }, ADAPTIVE, {}],
    ["sampling values that it takes", { temperature: 1 }, MANUAL, { temperature: 1 }],
    ["sampling values whose model is not known", { temperature: 1 }, null, { temperature: 1 }],
    [
      "adaptive thinking",
      thinking("adaptive", { display: "omitted" }),
      ADAPTIVE,
      thinking("adaptive", { display: "omitted" }),
    ],
    ["thinking between tools", thinking("between_tools"), ADAPTIVE, thinking("between_tools")],
    ["no thinking", thinking("disabled"), NONE, thinking("disabled")],
    ["a budget", BUDGET, MANUAL, BUDGET],
    ["a budget whose model is not known", BUDGET, null, BUDGET],
    [
      "a budget where the model decides",
      BUDGET,
      ADAPTIVE,
      { ...thinking("adaptive", { display: "summarized" }), ...effort("medium") },
    ],
    [
      "a budget beside an effort",
      { ...effort("low"), ...BUDGET },
      ADAPTIVE,
      { ...thinking("adaptive", { display: "summarized" }), ...effort("low") },
    ],
    [
      "a budget beside a format",
      { output_config: { format: { type: "json_schema", schema: {} } }, ...BUDGET },
      ADAPTIVE,
      {
        ...thinking("adaptive", { display: "summarized" }),
        output_config: { effort: "medium", format: { type: "json_schema", schema: {} } },
      },
    ],
    [
      "an effort where the model takes a budget",
      { ...thinking("adaptive"), ...effort("high") },
      MANUAL,
      { ...thinking("enabled", { budget_tokens: 16_384 }), output_config: {} },
    ],
    ["thinking without an effort where the model takes a budget", thinking("adaptive"), MANUAL, {}],
    ["thinking where the model does none", { ...thinking("adaptive"), ...effort("high") }, NONE, { output_config: {} }],
    ["a budget where the model does not think", { stream: true, ...BUDGET }, NONE, { stream: true }],
  ])("with %s", (_name, more, accepts, expected) => {
    expect(sent(more, accepts)).toEqual({ ...WITHOUT_MODEL, ...expected });
    expect(sent(more, accepts, 2)).toEqual({ ...WITHOUT_MODEL, ...expected });
  });

  it("keeps its members wherever those lie that are left out", () => {
    const members = ["temperature", "top_p", "thinking", "stream", "top_k"];
    const values: Json = { temperature: 1, top_p: 1, thinking: { type: "adaptive" }, stream: true, top_k: 1 };
    const none = { ...NONE, sampling: false };
    for (let turn = 0; turn < members.length; turn += 1) {
      const order = [...members.slice(turn), ...members.slice(0, turn)];
      const body = { ...Object.fromEntries(order.map((name) => [name, values[name]])), ...BODY };
      const native = messagesProtocol.read(Buffer.from(JSON.stringify(body))).native;
      const written = native?.write({ ...FACTS, accepts: none }).body.toString("utf8") ?? "";
      expect(JSON.parse(written)).toEqual({ ...BODY, model: "m", metadata: { user_id: "tag" }, stream: true });
    }
  });

  it("that ends with a turn of the assistant is refused where the model does not go on with it", () => {
    const begun = { messages: [HI, { role: "assistant", content: "{" }] };
    expect(problemOf(begun, ADAPTIVE)).toBe("messages prefill");
    expect([problemOf(begun, MANUAL), problemOf(begun, null), problemOf({}, ADAPTIVE)]).toEqual([null, null, null]);
  });

  it("is refused where its thoughts leave nothing of the bound", () => {
    expect(problemOf(BUDGET, MANUAL, 9_000)).toBe("thinking.budget_tokens max");
    expect(problemOf(BUDGET, null, 8_000)).toBe("thinking.budget_tokens max");
    expect([problemOf(BUDGET, MANUAL, 9_001), problemOf(BUDGET, ADAPTIVE, 8_000)]).toEqual([null, null]);
  });

  it("thinks as it does where it is translated", () => {
    for (const accepts of [ADAPTIVE, MANUAL, NONE]) {
      for (const more of [BUDGET, { ...thinking("adaptive"), ...effort("high") }, thinking("adaptive")]) {
        const conversation = readMessagesRequest({ ...BODY, ...more }, { isOnlyCounted: false });
        const facts = { ...FACTS, accepts, cacheWrites: "none", takesDocuments: false } as const;
        const translated = JSON.parse(writeMessagesRequest(conversation, facts).toString("utf8")) as Json;
        const type = (body: Json) => (body["thinking"] as Json | undefined)?.["type"];
        // Adaptive thinking without an effort has no form elsewhere.
        const isOwn = accepts === ADAPTIVE && !("output_config" in more) && more !== BUDGET;
        expect(type(sent(more, accepts))).toBe(isOwn ? "adaptive" : type(translated));
      }
    }
  });
});
