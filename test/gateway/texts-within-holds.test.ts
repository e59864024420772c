// No text has more tokens than its hold: of random texts by two tokenizers of OpenAI's, of recorded ones by five others. And ordinary
// requests are not held at much more than they cost.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import type { UpstreamKind } from "../../src/catalog/catalog-model.ts";
import { holdAdditions } from "../../src/gateway/admission/hold-additions.ts";
import { planHold } from "../../src/gateway/admission/hold.ts";
import { readChatConversation } from "../../src/gateway/conversation/chat/read-chat-conversation.ts";
import { writeChatRequest } from "../../src/gateway/conversation/chat/write-chat-request.ts";
import { countConversation } from "../../src/gateway/conversation/count-conversation.ts";
import { geminiProtocol } from "../../src/gateway/conversation/gemini/gemini-protocol.ts";
import { claudeCounts } from "../../src/gateway/conversation/messages/claude-counts.ts";
import { messagesProtocol } from "../../src/gateway/conversation/messages/messages-protocol.ts";
import type { ClientProtocol } from "../../src/gateway/conversation/protocol.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { readRequest } from "../../src/gateway/request/read-request.ts";
import type { OpenRoute } from "../../src/gateway/upstreams/upstreams.ts";
import { agentChatBody } from "../bench/agent-request.ts";
import { DENSE_TEXTS } from "./dense-texts.ts";
import { modelOf } from "./support.ts";

const MODEL = modelOf("acme/m", { contextLength: 1_000_000 });
/** Text that spells a control token is text. */
const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const TOKENIZERS = { cl100k: countCl100k, o200k: countO200k };
const NEWEST_CLAUDE = "claude-opus-4-7";

const routeTo = (kind: UpstreamKind, model: string): OpenRoute => {
  return { upstream: { id: kind, kind } as never, model, timeouts: undefined as never };
};

type Reader = (text: string) => { readonly body: object; readonly protocol: ClientProtocol | null };
/** A text in the request of a client of each protocol. */
const READERS: Readonly<Record<string, Reader>> = {
  chat: (content) => ({ body: { model: "acme/m", messages: [{ role: "user", content }] }, protocol: null }),
  messages: (content) => ({
    body: { model: "acme/m", max_tokens: 9, messages: [{ role: "user", content }] },
    protocol: messagesProtocol,
  }),
  responses: (input) => ({ body: { model: "acme/m", input }, protocol: responsesProtocol }),
  gemini: (text) => ({
    body: { contents: [{ role: "user", parts: [{ text }] }] },
    protocol: geminiProtocol({ model: "acme/m", stream: false }),
  }),
};

function heldFor(text: string, reader: Reader, kind: UpstreamKind = "openai-compatible", model = "m"): number {
  const { body, protocol } = reader(text);
  const bytes = Buffer.from(JSON.stringify(body));
  if (protocol === null) return planHold(readRequest(bytes), MODEL).inputTokens;
  const { conversation, native = null } = protocol.read(bytes);
  const request = readRequest(writeChatRequest(conversation));
  const client = { protocol: protocol.name, body: bytes, conversation, native };
  return planHold(request, MODEL, holdAdditions(request, client, [routeTo(kind, model)])).inputTokens;
}

/** What is held for the text alone. */
function heldForText(text: string): number {
  const reader: Reader = READERS["chat"] as Reader;
  return heldFor(text, reader) - heldFor("", reader);
}

const SMALL = "abcdefghijklmnopqrstuvwxyz";
const LARGE = SMALL.toUpperCase();
const DIGITS = "0123456789";
const SIGNS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const SYLLABLES =
  "th he in er an re on at en nd ti es or te of is it al ar st to nt ng se ha as ou io le ve co me de hi ri".split(" ");
const OFTEN_JOINED = [
  '":',
  '",',
  "()",
  "});",
  '{"',
  "=>",
  "//",
  "\n  ",
  "\n\n",
  "--",
  "**",
  "](",
  ", ",
  ". ",
  "\\n",
  '\\"',
];

const LENGTH = 2_000;
const one = (from: string | readonly string[]) => fc.constantFrom(...Array.from(from));
const some = (from: string | readonly string[], maxLength: number) =>
  fc.array(one(from), { minLength: 1, maxLength }).map((parts) => parts.join(""));
/** A text of some length of the values of an arbitrary. */
const long = (part: fc.Arbitrary<string>, between = "") =>
  fc.array(part, { minLength: LENGTH, maxLength: LENGTH }).map((parts) => parts.join(between).slice(0, LENGTH));
const characters = (from: number, to: number) =>
  long(fc.integer({ min: from, max: to }).map((code) => String.fromCodePoint(code)));
const bytes = fc.uint8Array({ minLength: LENGTH, maxLength: LENGTH });
const pieces = [
  one(SMALL),
  one(LARGE),
  one(DIGITS),
  one(SIGNS),
  one(OFTEN_JOINED),
  some(SMALL, 6),
  some(SYLLABLES, 4),
  some(DIGITS, 5),
  fc.constantFrom(" ", "  ", "\n", "\t"),
] as const;

/** Texts whose tokens are as short as a client can make them. */
const HOSTILE: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "small letters": long(one(SMALL)),
  capitals: long(one(LARGE)),
  "letters of both sizes": long(one(SMALL + LARGE)),
  syllables: long(one(SYLLABLES)),
  "words of syllables": long(some(SYLLABLES, 4), " "),
  "names of syllables": long(some(SYLLABLES, 3), "_"),
  "single letters": long(one(SMALL), " "),
  "pairs of letters": long(some(SMALL, 2), " "),
  base64: bytes.map((each) => Buffer.from(each).toString("base64")),
  base64url: bytes.map((each) => Buffer.from(each).toString("base64url")),
  hexadecimal: bytes.map((each) => Buffer.from(each).toString("hex").slice(0, LENGTH)),
  digits: long(one(DIGITS)),
  numbers: long(some(DIGITS, 5), " "),
  "a table": long(some(DIGITS, 4), ","),
  signs: long(one(SIGNS)),
  "signs and spaces": long(one(SIGNS), " "),
  "all of ASCII": long(one(SMALL + LARGE + DIGITS + SIGNS + " ")),
  "letters and digits": long(fc.tuple(one(SMALL), one(DIGITS)).map((pair) => pair.join(""))),
  "letters and signs": long(fc.tuple(one(SMALL), one(SIGNS)).map((pair) => pair.join(""))),
  "white space": long(one(" \t\n\r")),
  "spaces between letters": long(fc.tuple(some(" ", 4), one(SMALL)).map((pair) => pair.join(""))),
  escapes: long(one('\\"\n\t')),
  Latin: characters(0xa0, 0x24f),
  Greek: characters(0x370, 0x3ff),
  Cyrillic: characters(0x400, 0x4ff),
  "Hebrew and Arabic": characters(0x590, 0x6ff),
  "scripts of India": characters(0x900, 0xdff),
  "Thai and others": characters(0xe00, 0x1fff),
  "signs of all kinds": characters(0x2000, 0x2bff),
  kana: characters(0x3040, 0x30ff),
  Chinese: characters(0x3400, 0x9fff),
  Korean: characters(0xac00, 0xd7a3),
  "other forms": characters(0xf900, 0xffef),
  emoji: characters(0x1f300, 0x1faff),
  "dead scripts": characters(0x10000, 0x12fff),
  "any characters": fc
    .string({ unit: "binary", minLength: LENGTH / 2, maxLength: LENGTH / 2 })
    .map((text) => text.toWellFormed()),
  // A few kinds of pieces in turn: what one kind is charged too little for, another does not pay.
  "pieces in turn": fc
    .array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 5 })
    .chain((kinds) => long(fc.tuple(...kinds).map((turn) => turn.join("")))),
  "a short text again and again": some(SMALL + LARGE + DIGITS + SIGNS + " ", 4).map((text) =>
    text.repeat(LENGTH).slice(0, LENGTH),
  ),
};

describe("a text has no more tokens than its hold", () => {
  it.each(Object.entries(HOSTILE))("of %s, by tokenizers of OpenAI's", (_kind, texts) => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...Object.keys(READERS)), (text, protocol) => {
        const held = heldFor(text, READERS[protocol] as Reader);
        for (const count of Object.values(TOKENIZERS)) expect(count(text, PLAIN)).toBeLessThanOrEqual(held);
      }),
      // Texts of 2 000 parts take minutes to shrink.
      { numRuns: 25, endOnFailure: true },
    );
  });

  it.each(DENSE_TEXTS)("of $kind, by $by", ({ text, tokens }) => {
    expect(heldForText(text)).toBeGreaterThanOrEqual(tokens);
  });

  it("where the model has the tokenizer with the most tokens", async () => {
    const { rules } = claudeCounts(NEWEST_CLAUDE);
    // Words of syllables, which are no words.
    const words = Array.from({ length: 700 }, (_, index) => SYLLABLES[(index * index * 7 + index) % SYLLABLES.length]);
    const nonsense = words.map((word, index) => (index % 3 === 0 ? ` ${word}` : word)).join("");
    for (const { kind, text } of [...DENSE_TEXTS, { kind: "nonsense", text: nonsense }]) {
      const chat = Buffer.from(JSON.stringify((READERS["chat"] as Reader)(text).body));
      const { conversation } = readChatConversation(readRequest(chat));
      // A provider cannot make more tokens of a text than it has bytes.
      const tokens = Math.min(await countConversation(conversation, rules), Buffer.byteLength(text));
      const held = heldFor(text, READERS["messages"] as Reader, "anthropic", NEWEST_CLAUDE);
      expect(held, kind).toBeGreaterThanOrEqual(tokens);
    }
  });

  it("in a body that spells each character by an escape", () => {
    // Each is three letters that often come together, and three bytes.
    const each = ["\uaded", "\uaced", "\uadad", "\uacad", "\uadde"];
    const text = Array.from({ length: 900 }, (_, index) => each[(index * index + (index >> 2)) % each.length]).join("");
    const escaped = Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16)}`).join("");
    const body = `{"model":"acme/m","messages":[{"role":"user","content":"${escaped}"}]}`;
    const { inputTokens } = planHold(readRequest(Buffer.from(body)), MODEL);
    expect(inputTokens).toBeGreaterThanOrEqual(Buffer.byteLength(text));
  });
});

const source = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const ORDINARY: Readonly<Record<string, object>> = {
  prose: { messages: [{ role: "user", content: source("src/gateway/metering/README.md") }] },
  Indonesian: { messages: [{ role: "user", content: source("src/docs/pages/billing.id.md") }] },
  code: { messages: [{ role: "user", content: source("src/gateway/metering/bill.ts") }] },
  "an agent's request": agentChatBody({ model: "acme/m", stream: true }),
};

describe("an ordinary request", () => {
  it.each(Object.entries(ORDINARY))("of %s is held at little more than it costs", async (_kind, body) => {
    const request = readRequest(Buffer.from(JSON.stringify({ model: "acme/m", ...body })));
    const { conversation } = readChatConversation(request);
    const heldAt = (model: string) =>
      planHold(request, MODEL, holdAdditions(request, null, [routeTo("openai-compatible", model)])).inputTokens;
    const claude = await countConversation(conversation, claudeCounts(NEWEST_CLAUDE).rules);
    expect(heldAt(NEWEST_CLAUDE) / claude).toBeLessThan(1.7);
    const openai = await countConversation(conversation, {
      ...claudeCounts("m").rules,
      perToken: 1,
      perTokenOfTools: 1,
      perInnerWord: 0,
    });
    expect(heldAt("m") / openai).toBeLessThan(2.1);
  });

  it("is held at no more than half of its bytes", () => {
    for (const body of Object.values(ORDINARY)) {
      const request = readRequest(Buffer.from(JSON.stringify({ model: "acme/m", ...body })));
      expect(planHold(request, MODEL).inputTokens / request.body.length).toBeLessThan(0.56);
    }
  });
});
