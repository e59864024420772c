// What an upstream of Google's gets of a Gemini request.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readStrictObject } from "../../request/read-json.ts";
import type { NativeFacts } from "../native-request.ts";
import { nativeGemini } from "./native-gemini.ts";
import { UNSIGNED_CALL, writeSignature } from "./opaque-signature.ts";

const FACTS: NativeFacts = {
  origin: "google",
  model: "gemini-9",
  outputBound: 64,
  userTag: "tag",
  takesServiceTier: false,
  knowsSafeguards: true,
  headers: {},
  contextLength: 200_000,
  canThink: true,
  accepts: null,
};

function nativeOf(json: string, facts = FACTS): string {
  const body = Buffer.from(json);
  const native = nativeGemini(readStrictObject(body), body);
  if (native === null) throw new Error("it is in Google's own form");
  return native.write(facts).body.toString("utf8");
}

const HI = '{"role":"user","parts":[{"text":"hi"}]}';

describe("the body", () => {
  it("is the client's byte for byte, but for the bound, the model and the labels", () => {
    const bodyOf = (bound: string, model: string, labels: string): string =>
      `{ "safetySettings" : [{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}],"model":${model} ,
      "generation_c\\u006fnfig":{"seed":7, "max_output_tokens" :${bound} ,"topP":1.0e0,"thinking_config":{"thinkingBudget":-1}},
      "labels":${labels}, "contents":[{"role":"model","parts":[{"functionCall":{"name":"a","args":{"maxOutputTokens":1}},
      "thoughtSignature":"U2ln+/=="}, {"text":"\\u00e9\\/ é } ]"}]}],"next_month" : [1e2 , 12345678901234567890]}`;
    const own = bodyOf("100000", '"models/gemini-ultra"', '{"team":"ours"}');
    expect(nativeOf(own)).toBe(bodyOf("64", "null", "{}"));
  });

  it.each([
    [`{"contents":[${HI}]}`, `{"generationConfig":{"maxOutputTokens":64},"contents":[${HI}]}`],
    [`{"contents":[${HI}],"generationConfig":null}`, `{"contents":[${HI}],"generationConfig":{"maxOutputTokens":64}}`],
    ['{"generationConfig": {} }', '{"generationConfig": {"maxOutputTokens":64} }'],
    ['{"generationConfig":{"seed":1}}', '{"generationConfig":{"maxOutputTokens":64,"seed":1}}'],
    [
      '{"generationConfig":null,"generation_config":{"max_output_tokens":null,"maxOutputTokens":9}}',
      '{"generationConfig":null,"generation_config":{"max_output_tokens":null,"maxOutputTokens":64}}',
    ],
    [
      '{"generationConfig":{"max_output_tokens":9,"maxOutputTokens":null}}',
      '{"generationConfig":{"max_output_tokens":null,"maxOutputTokens":64}}',
    ],
  ])("has the bound that is held: %s", (own, expected) => {
    expect(nativeOf(own)).toBe(expected);
  });

  it("asks for no thoughts where the model has none", () => {
    const own = '{"generationConfig":{"thinkingConfig":{"includeThoughts":true},"maxOutputTokens":64}}';
    expect(nativeOf(own)).toBe(own);
    expect(nativeOf(own, { ...FACTS, canThink: false })).toBe(own.replace('{"includeThoughts":true}', "null"));
  });

  it("means the same for every JSON", () => {
    const name = fc.string({ minLength: 1 }).filter((each) => !NAMES.has(each));
    const member = fc.tuple(
      name,
      fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__")),
    );
    const members = fc.array(member, { maxLength: 4 }).map((all) => Object.fromEntries(all));
    const bound = fc.constantFrom({}, { maxOutputTokens: 5 }, { max_output_tokens: 5 });
    fc.assert(
      fc.property(members, members, bound, fc.boolean(), (body, config, cap, isSpaced) => {
        const generationConfig = { ...config, ...cap };
        const [first = "maxOutputTokens"] = Object.keys(cap);
        const sent = { ...body, contents: [], generationConfig: { ...generationConfig, [first]: 64 } };
        const own = JSON.stringify({ ...body, contents: [], generationConfig }, null, isSpaced ? 2 : 0);
        expect(JSON.parse(nativeOf(own))).toEqual(JSON.parse(JSON.stringify(sent)));
      }),
    );
  });

  it("gives back signatures to their maker alone, and marks the calls of others", () => {
    const call = (signature: string | null): string =>
      `{"functionCall": {"name":"a","args":{}},"thoughtSignature":${JSON.stringify(signature)}}`;
    const text = (signature: string | null): string => `{"text":"a","thought_signature" :${JSON.stringify(signature)}}`;
    const bodyOf = (...parts: string[]): string =>
      `{"generationConfig":{"maxOutputTokens":64},"contents":[${HI},{"parts":[${parts.join(" , ")}],"role":"model"},${HI}]}`;
    const own = writeSignature("call", { origin: "google", blob: "U2ln+/==" });
    const thought = writeSignature("thought", { origin: "google", blob: "T3du" });
    const other = writeSignature("call", { origin: "vertex", blob: "T3Ro" });
    const skip = "skip_thought_signature_validator";
    expect(nativeOf(bodyOf(call(own), call(thought), call(other)))).toBe(
      bodyOf(call("U2ln+/=="), call("T3du"), call(null)),
    );
    expect(nativeOf(bodyOf(text(other), call(other), call(UNSIGNED_CALL)))).toBe(
      bodyOf(text(null), call(skip), call(null)),
    );
    expect(nativeOf(bodyOf(call(UNSIGNED_CALL)))).toBe(bodyOf(call(skip)));
    const theirs = bodyOf(text("VGhlaXJz"), call("VGhlaXJz"));
    expect(nativeOf(theirs)).toBe(theirs);
  });
});

const NAMES: ReadonlySet<string> = new Set(
  "__proto__ model labels contents generationConfig generation_config maxOutputTokens max_output_tokens".split(" "),
);

it.each<object>([{ systemInstruction: "Be brief." }, { system_instruction: { text: "Be brief." } }])(
  "a request with %j is not in Google's own form",
  (more) => {
    const json = { contents: [], ...more };
    expect(nativeGemini(json, Buffer.from(JSON.stringify(json)))).toBeNull();
  },
);
