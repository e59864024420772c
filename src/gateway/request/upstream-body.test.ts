import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRequest } from "./read-request.ts";
import { upstreamBody, type UpstreamBodyFacts } from "./upstream-body.ts";

const USER = { role: "user", content: "hi" };
const FACTS: UpstreamBodyFacts = {
  model: "up-1",
  outputBound: 300,
  outputCapField: "max_tokens",
  takesServiceTier: false,
  cacheKey: null,
  userTag: "tag",
};
const bodyOf = (more: object) => Buffer.from(JSON.stringify({ model: "acme/m", messages: [USER], ...more }));
const sent = (body: Buffer, facts: Partial<UpstreamBodyFacts> = {}): unknown =>
  JSON.parse(upstreamBody(readRequest(body), { ...FACTS, ...facts }).toString());
/** Too large to be copied without need. */
const LARGE = "x".repeat(70_000);

describe("upstreamBody", () => {
  const spaced =
    '{ "messages" : [{"role":"user","content":"a\\u00e9 \\"model\\": 1.50"}] ,\n "model": "acme/m" , "max_tokens": 5e2, "x": 1.000 }';

  it("replaces the model and the bound, and touches nothing else", () => {
    const body = upstreamBody(readRequest(Buffer.from(spaced)), { ...FACTS, outputBound: 500 });
    expect(body.toString()).toBe(spaced.replace('"acme/m"', '"up-1"').replace("5e2", "500"));
  });

  it("is the client's own bytes where nothing has to change", () => {
    const request = readRequest(Buffer.from(spaced.replace("5e2", "500")));
    expect(upstreamBody(request, { ...FACTS, model: "acme/m", outputBound: 500 })).toBe(request.body);
  });

  it("writes over a large body instead of copying it, also for a retry under another name", () => {
    const body = bodyOf({ messages: [{ role: "user", content: LARGE }], max_tokens: 300 });
    const request = readRequest(body);
    const first = upstreamBody(request, { ...FACTS, model: "u" });
    expect(first).toBe(body);
    expect(JSON.parse(first.toString())).toMatchObject({ model: "u" });
    for (const model of ["acme/m", "a-longer-name"]) {
      expect(JSON.parse(upstreamBody(request, { ...FACTS, model }).toString())).toMatchObject({ model });
    }
  });

  it.each<[string, object, object]>([
    ["no options", {}, { include_usage: true }],
    ["null options", { stream_options: null }, { include_usage: true }],
    [
      "other options",
      { stream_options: { include_obfuscation: false } },
      { include_obfuscation: false, include_usage: true },
    ],
    ["usage declined", { stream_options: { include_usage: false } }, { include_usage: true }],
  ])("asks a stream for usage: %s", (_name, more, expected) => {
    expect(sent(bodyOf({ stream: true, ...more }))).toMatchObject({
      model: "up-1",
      stream: true,
      stream_options: expected,
    });
  });

  it.each<[unknown, unknown]>([
    ["auto", "default"],
    ["default", "default"],
    [null, null],
    [undefined, undefined],
  ])("asks for the service tier that is priced: %s becomes %s, and default where the upstream knows it", (tier, is) => {
    const whole = { model: "up-1", max_tokens: 300, messages: [USER] };
    const unknown = sent(bodyOf({ service_tier: tier }));
    expect(unknown).toEqual(is === undefined ? whole : { ...whole, service_tier: is });
    expect(sent(bodyOf({ service_tier: tier }), { takesServiceTier: true })).toEqual({
      ...whole,
      service_tier: "default",
    });
  });
});

describe("the bound on the output", () => {
  const bounds: [string, object][] = [
    ["none", {}],
    ["null", { max_tokens: null }],
    ["the older field", { max_tokens: 1 }],
    ["the newer field", { max_completion_tokens: 900 }],
    ["both", { max_tokens: 200, max_completion_tokens: 900 }],
    ["both, one of them null", { max_tokens: null, max_completion_tokens: 3 }],
  ];
  it.each(bounds)("is in the one field that the upstream reads, and in no other: the client sent %s", (_name, more) => {
    for (const outputCapField of ["max_tokens", "max_completion_tokens"] as const) {
      const expected = { model: "up-1", messages: [USER], seed: 1, [outputCapField]: 300 };
      expect(sent(bodyOf({ ...more, seed: 1 }), { outputCapField })).toEqual(expected);
      // Wherever the fields lie: in front of all others, and behind them.
      const first = Buffer.from(JSON.stringify({ ...more, model: "acme/m", messages: [USER], seed: 1 }, null, 1));
      expect(sent(first, { outputCapField })).toEqual(expected);
      const last = Buffer.from(`{"seed":1,"model":"acme/m","messages":[${JSON.stringify(USER)}]}`);
      const members = JSON.stringify(more).slice(1, -1);
      const body = members === "" ? last : Buffer.from(`${last.toString().slice(0, -1)} , ${members} }`);
      expect(sent(body, { outputCapField })).toEqual(expected);
    }
  });

  it("is written over a field whose name is spelled with escapes", () => {
    const body = Buffer.from(`{"model":"m","max\\u005ftokens":9,"messages":[${JSON.stringify(USER)}]}`);
    expect(sent(body)).toEqual({ model: "up-1", max_tokens: 300, messages: [USER] });
  });

  it("keeps nothing at the provider, and names no person, in small and large bodies", () => {
    const named = { store: true, metadata: { city: "Bandung" }, user: "siti@saldo.example", safety_identifier: "siti" };
    for (const content of ["hi", LARGE]) {
      const messages = [{ role: "user", content }];
      expect(sent(bodyOf({ ...named, messages }))).toEqual({
        model: "up-1",
        messages,
        max_tokens: 300,
        store: false,
        metadata: null,
        user: "tag",
        safety_identifier: "tag",
      });
    }
    expect(Object.keys(sent(bodyOf({})) as object).toSorted()).toEqual(["max_tokens", "messages", "model"]);
  });

  it("names the customer's own prompt cache, also for a retry, and none where the client named none", () => {
    const request = readRequest(bodyOf({ prompt_cache_key: "chat-1", max_tokens: 300 }));
    expect(request.cacheKey).toBe("chat-1");
    for (const model of ["up-1", "up-22"]) {
      const body = upstreamBody(request, { ...FACTS, model, cacheKey: "tag.chat-1" });
      expect(JSON.parse(body.toString())).toMatchObject({ model, prompt_cache_key: "tag.chat-1" });
    }
    expect(readRequest(bodyOf({})).cacheKey).toBeNull();
    expect(readRequest(bodyOf({ prompt_cache_key: null })).cacheKey).toBeNull();
    expect(sent(bodyOf({}))).not.toHaveProperty("prompt_cache_key");
  });

  it("is written into a large body without a copy where its place is long enough", () => {
    const large = (more: object) => bodyOf({ messages: [{ role: "user", content: LARGE }], ...more });
    const isCopied = (more: object, outputCapField: UpstreamBodyFacts["outputCapField"]) => {
      const request = readRequest(large(more));
      return upstreamBody(request, { ...FACTS, outputCapField }) !== request.body;
    };
    expect(isCopied({ max_tokens: 16_384 }, "max_tokens")).toBe(false);
    expect(isCopied({ max_completion_tokens: 16_384 }, "max_completion_tokens")).toBe(false);
    expect(isCopied({ max_completion_tokens: 16_384 }, "max_tokens")).toBe(false);
    expect(isCopied({ max_completion_tokens: 16_384, max_tokens: 5 }, "max_tokens")).toBe(false);
    expect(isCopied({ max_tokens: 16_384 }, "max_completion_tokens")).toBe(true);
    expect(isCopied({}, "max_tokens")).toBe(true);
  });

  it("is right for each of several upstreams in turn, also when they write over one body", () => {
    const field = fc.constantFrom("max_tokens", "max_completion_tokens");
    const turns = fc.array(
      fc.record({ field, model: fc.constantFrom("u", "acme/m", "a-longer-name"), bound: fc.nat() }),
      {
        minLength: 2,
        maxLength: 4,
      },
    );
    const members = fc.shuffledSubarray(
      [
        '"model" : "acme/m"',
        `"messages":[{"role":"user","content":"${LARGE}"}]`,
        '"max_tokens" : 1e4',
        '"max_completion_tokens":  900 ',
        '"max\\u005ftokens":77777777',
      ],
      { minLength: 2 },
    );
    fc.assert(
      fc.property(members, turns, (given, each) => {
        const names = given.join();
        fc.pre(names.includes('"model"') && names.includes('"messages"'));
        fc.pre(!(names.includes('"max_tokens"') && names.includes("u005f")));
        const request = readRequest(Buffer.from(`{${given.join(" ,\n")}}`));
        for (const { field: outputCapField, model, bound } of each) {
          const body = upstreamBody(request, { ...FACTS, model, outputBound: bound, outputCapField });
          expect(JSON.parse(body.toString())).toEqual({
            model,
            messages: [{ role: "user", content: LARGE }],
            [outputCapField]: bound,
          });
        }
      }),
      { numRuns: 300 },
    );
  });
});
