// Pictures, sound and video are held at the most that any provider charges for them at its upstreams. What is
// billed where an upstream does not count them stays the catalog's figure.

import { describe, expect, it } from "vitest";
import type { UpstreamKind } from "../../src/catalog/catalog-model.ts";
import { holdAdditions } from "../../src/gateway/admission/hold-additions.ts";
import { type HoldPlan, planHold, usageBounds } from "../../src/gateway/admission/hold.ts";
import { writeChatRequest } from "../../src/gateway/conversation/chat/write-chat-request.ts";
import { geminiProtocol } from "../../src/gateway/conversation/gemini/gemini-protocol.ts";
import { messagesProtocol } from "../../src/gateway/conversation/messages/messages-protocol.ts";
import type { ClientProtocol } from "../../src/gateway/conversation/protocol.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { readRequest } from "../../src/gateway/request/read-request.ts";
import type { OpenRoute } from "../../src/gateway/upstreams/upstreams.ts";
import { modelOf } from "./support.ts";

/** Figures that an operator may have set for other models: holds must not be below what providers charge. */
const FIGURES = { image: 800, audio: 500, video: 1_000 };
const MODEL = modelOf("acme/m", { contextLength: 2_000_000, mediaTokens: FIGURES });

const GEMINI = geminiProtocol({ model: "acme/m", stream: false });
const NEWEST_OPENAI = "gpt-6-astra";
const SMALL_OPENAI = "gpt-4o-mini-2024-07-18";

type Route = readonly [kind: UpstreamKind, model: string];
type Asked = { readonly body: object; readonly protocol: ClientProtocol | null };

function planOf({ body, protocol }: Asked, routes: readonly Route[]): HoldPlan {
  const bytes = Buffer.from(JSON.stringify(body));
  const open = routes.map(([kind, model]): OpenRoute => ({
    upstream: { id: kind, kind } as never,
    model,
    timeouts: undefined as never,
  }));
  if (protocol === null) {
    const request = readRequest(bytes);
    return planHold(request, MODEL, holdAdditions(request, null, open));
  }
  const { conversation, native = null } = protocol.read(bytes);
  const request = readRequest(writeChatRequest(conversation));
  const client = { protocol: protocol.name, body: bytes, conversation, native };
  return planHold(request, MODEL, holdAdditions(request, client, open));
}

const chat = (...content: readonly object[]): Asked => {
  return { body: { model: "acme/m", messages: [{ role: "user", content }] }, protocol: null };
};
/** Routes to upstreams that read the text alone alike. */
function heldForMedia(asked: Asked, routes: readonly Route[]): number {
  const { inputTokens } = planOf(asked, routes);
  return inputTokens - planOf(chat({ type: "text", text: "" }), routes).inputTokens;
}

/** A PNG of this size whose pixels are missing. */
function png(width: number, height: number): string {
  const file = Buffer.alloc(2_000);
  file.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file.toString("base64");
}
const pictureUrl = (url: string, detail?: string) => ({
  type: "image_url",
  image_url: { url, ...(detail && { detail }) },
});
const picture = (data = png(640, 480), detail?: string) => pictureUrl(`data:image/png;base64,${data}`, detail);

const DATA = png(640, 480);
const PICTURES: Readonly<Record<string, Asked>> = {
  chat: chat(picture(DATA)),
  messages: {
    body: {
      model: "acme/m",
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: DATA } }],
        },
      ],
    },
    protocol: messagesProtocol,
  },
  responses: {
    body: {
      model: "acme/m",
      input: [{ role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${DATA}` }] }],
    },
    protocol: responsesProtocol,
  },
  gemini: {
    body: { contents: [{ role: "user", parts: [{ inlineData: { mimeType: "image/png", data: DATA } }] }] },
    protocol: GEMINI,
  },
};

describe("a picture is held at the most that is charged for it", () => {
  it.each(Object.entries(PICTURES))(
    "by a client of %s, at each upstream and at the dearest of several",
    (_name, asked) => {
      const [anthropic, google]: Route[] = [
        ["anthropic", "claude-opus-5"],
        ["gemini", "gemini-3-flash"],
      ];
      expect(heldForMedia(asked, [anthropic as Route])).toBeGreaterThanOrEqual(4_784);
      const atGoogle = heldForMedia(asked, [google as Route]);
      expect(atGoogle).toBeGreaterThanOrEqual(2_240);
      expect(atGoogle).toBeLessThan(4_000);
      expect(heldForMedia(asked, [google as Route, anthropic as Route])).toBeGreaterThanOrEqual(4_784);
      expect(heldForMedia(asked, [["openai-compatible", SMALL_OPENAI]])).toBeGreaterThanOrEqual(48_169);
      expect(heldForMedia(asked, [["openai-responses", "gpt-5"]])).toBeGreaterThanOrEqual(2_500);
      // Of a model that is not known here the operator knows the figure.
      expect(heldForMedia(asked, [["openai-compatible", "own-model"]])).toBeLessThan(1_200);
    },
  );

  it("by its size, where the model scales no picture down", () => {
    const at = (asked: object) => heldForMedia(chat(asked), [["openai-responses", NEWEST_OPENAI]]);
    const squares = Math.ceil(4_000 / 32) * Math.ceil(3_000 / 32);
    expect(at(picture(png(4_000, 3_000)))).toBeGreaterThanOrEqual(Math.ceil(squares * 1.2));
    expect(at(picture(png(4_000, 3_000), "auto"))).toBeGreaterThanOrEqual(Math.ceil(squares * 1.2));
    expect(at(picture(png(64, 64)))).toBeLessThan(2_000);
    expect(at(picture(png(4_000, 3_000), "high"))).toBeLessThan(8_000);
    expect(
      heldForMedia(chat(picture(png(4_000, 3_000), "original")), [["openai-compatible", "gpt-5.4"]]),
    ).toBeGreaterThan(squares);
    // Where the size is not seen the picture may be the largest that there is.
    expect(at(pictureUrl("https://example.com/a.png"))).toBeGreaterThanOrEqual(65_536);
    expect(at(picture(Buffer.alloc(3_000).toString("base64")))).toBeGreaterThanOrEqual(65_536);
  });

  it("as the largest where its data has escapes, behind which another size could be hidden", () => {
    // A comment that is read as three bytes longer than it is ends before the head of a small picture.
    const comment = Buffer.alloc(98);
    comment.set([0xff, 0xfe, 0, 96]);
    comment.set([0xff, 0xc0, 0], 95);
    const frame = [0xff, 0xc0, 0, 17, 8, 0x20, 0, 0x20, 0];
    const file = Buffer.concat([Buffer.from([0xff, 0xd8]), comment, Buffer.from(frame), Buffer.alloc(2_000)]).toString(
      "base64",
    );
    const data = `${file.slice(0, 40)}\\u0041${file.slice(41)}`;
    const part = `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,${data}"}}`;
    const request = readRequest(Buffer.from(`{"model":"acme/m","messages":[{"role":"user","content":[${part}]}]}`));
    const open = [{ upstream: { id: "a", kind: "openai-responses" }, model: NEWEST_OPENAI }] as never;
    expect(planHold(request, MODEL, holdAdditions(request, null, open)).inputTokens).toBeGreaterThanOrEqual(65_536);
  });

  it("at the resolution that a client asks Google for", () => {
    const part = { inlineData: { mimeType: "image/png", data: DATA } };
    const at = (level: string | null, ofPart: string | null = null) => {
      const generationConfig = level === null ? {} : { mediaResolution: level };
      const resolved = ofPart === null ? part : { ...part, mediaResolution: { level: ofPart } };
      const body = { contents: [{ role: "user", parts: [resolved] }], generationConfig };
      return heldForMedia({ body, protocol: GEMINI }, [["gemini", "gemini-3-pro"]]);
    };
    const low = at("MEDIA_RESOLUTION_LOW");
    expect(low).toBeGreaterThanOrEqual(FIGURES.image);
    expect(low).toBeLessThan(1_200);
    for (const held of [
      at(null),
      at("MEDIA_RESOLUTION_HIGH"),
      at("MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_ULTRA_HIGH"),
    ]) {
      expect(held).toBeGreaterThanOrEqual(2_240);
    }
  });

  it.each([
    [
      "of the request",
      { generationConfig: { mediaResolution: "MEDIA_RESOLUTION_8K" } },
      {},
      "generationConfig.mediaResolution",
    ],
    [
      "of a part",
      {},
      { media_resolution: { level: "MEDIA_RESOLUTION_8K" } },
      "contents[0].parts[0].mediaResolution.level",
    ],
  ])("but not at a resolution %s that is not known", (_name, more, ofPart, field) => {
    const body = { contents: [{ role: "user", parts: [{ text: "hi", ...ofPart }] }], ...more };
    expect(() => GEMINI.read(Buffer.from(JSON.stringify(body)))).toThrowError(
      expect.objectContaining({ details: [expect.objectContaining({ field })] }),
    );
  });
});

/** A WAV file of plain samples. `claimed`: the rate of bytes in its head. */
function wav(bytes: number, claimed: number): string {
  const file = Buffer.alloc(bytes);
  file.write("RIFF\0\0\0\0WAVEfmt ", "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(8_000, 24);
  file.writeUInt32LE(claimed, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  return file.toString("base64");
}
const sound = (data: string, format: string) => chat({ type: "input_audio", input_audio: { data, format } });
const FRAME = Buffer.from([0xff, 0xfb, 0x14, 0xc4]);
/** A tag of 200 bytes, and what is behind it. */
const tagged = (...parts: Buffer[]) =>
  Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\x01\x48", "latin1"), Buffer.alloc(200), ...parts]).toString("base64");
const mp3 = (bytes: number) => tagged(FRAME, Buffer.alloc(bytes));
const video = (url: string) => chat({ type: "video_url", video_url: { url } });

describe("sound and video are held by how long they can be", () => {
  const routes: Route[] = [["openai-compatible", "own-model"]];
  /** Google charges 32 tokens for a second. */
  const seconds = 120;

  it.each<[string, Asked, number, number]>([
    ["plain samples", sound(wav(8_000 * seconds, 8_000), "wav"), 32 * seconds, 32 * seconds + 400],
    [
      "plain samples whose head claims a higher rate",
      sound(wav(8_000 * seconds, 4_000_000), "wav"),
      32 * seconds,
      32 * seconds + 400,
    ],
    ["MP3 at its lowest rate", sound(mp3(1_000 * seconds), "mp3"), 32 * seconds, 32 * seconds + 400],
    [
      "a format that may write silence in few bytes",
      sound(Buffer.alloc(2_000).toString("base64"), "flac"),
      1_048_576,
      Infinity,
    ],
    [
      "another format under the name of a known one",
      sound(Buffer.alloc(2_000).toString("base64"), "mp3"),
      1_048_576,
      Infinity,
    ],
    ["another format behind the tag of one", sound(tagged(Buffer.from("fLaC")), "mp3"), 1_048_576, Infinity],
    ["video", video(`data:video/mp4;base64,${Buffer.alloc(90_000).toString("base64")}`), 90_000, 91_000],
    ["video behind an address", video("https://example.com/a.mp4"), 1_048_576, 1_050_000],
  ])("%s", (_name, asked, least, most) => {
    const held = heldForMedia(asked, routes);
    expect(held).toBeGreaterThanOrEqual(least);
    expect(held).toBeLessThan(most);
  });
});

it.each(Object.entries(PICTURES))(
  "what is billed without a count stays the catalog's figure, for %s",
  (_name, asked) => {
    const plan = planOf(asked, [["anthropic", "claude-opus-5"]]);
    expect(plan.mediaTokens).toBe(FIGURES.image);
    expect(usageBounds(plan, null).input).toBeGreaterThan(plan.inputTokens);
  },
);

it("a hold ends at the context window, which no input is longer than", () => {
  const asked = readRequest(Buffer.from(JSON.stringify(video("https://example.com/a.mp4").body)));
  expect(planHold(asked, { ...MODEL, contextLength: 100_000 }).inputTokens).toBe(100_000);
});
