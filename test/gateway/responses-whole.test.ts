// Whole answers of Responses: how they are shown, and in place of a stream.

import { describe, expect, it } from "vitest";
import type { Json } from "./fakes/responses-wire.ts";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";
import {
  NAMES,
  USAGE,
  BILLED,
  OWN_COUNTS,
  REASONING,
  messageOf,
  CALL,
  responseOf,
  open,
  parsed,
  readAll,
} from "./responses-samples.ts";

const whole = (answer: unknown) => RESPONSES_FORMAT.readWhole(Buffer.from(JSON.stringify(answer)));
describe("a whole response", () => {
  const RESPONSE = responseOf([REASONING, messageOf("Hello there."), CALL]);

  it("has our names and the billed usage, and all else as it came", () => {
    const found = whole(RESPONSE);
    if ("kind" in found) throw new Error("it is an answer");
    const written = RESPONSES_FORMAT.writeWhole(found, NAMES, BILLED).toString();
    const usage = { ...USAGE, cost_idr: "1.5" };
    expect(JSON.parse(written)).toEqual({ ...RESPONSE, ...NAMES, safety_identifier: null, usage });
    expect(written).toContain(JSON.stringify(RESPONSE["output"]));
    expect(RESPONSES_FORMAT.piecesOfAnswer(RESPONSE).map(({ text }) => text)).toEqual([
      "hm",
      "Hello there.",
      "look",
      '{"at":1}',
    ]);
  });

  it("gets what it lacks", () => {
    const { id: _id, usage: _usage, ...lacking } = RESPONSE;
    const found = whole(lacking);
    if ("kind" in found) throw new Error("it is an answer");
    const written = JSON.parse(RESPONSES_FORMAT.writeWhole(found, NAMES, OWN_COUNTS).toString()) as Json;
    expect(written).toMatchObject({ ...NAMES, output: RESPONSE["output"], usage: USAGE });
  });

  it("is none without output or an end, and where it failed", () => {
    expect(whole(responseOf([]))).not.toHaveProperty("kind");
    expect(whole(responseOf([], { status: "in_progress" }))).toMatchObject({ kind: "failed" });
    expect(whole(responseOf([messageOf("hi")], { status: "failed" }))).toMatchObject({ kind: "failed" });
    expect(whole(responseOf([], { error: { code: "server_error", message: "It broke" } }))).toMatchObject({
      kind: "failed",
    });
    expect(whole({ choices: [] })).toMatchObject({ kind: "failed" });
  });

  it("in place of a stream is written as one", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(RESPONSE)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    expect(unstreamed.read.text).toBe('hmHello there.look{"at":1}');
    const complete = stream.complete([unstreamed.shown], BILLED);
    const reader = RESPONSES_FORMAT.openReader("gpt");
    expect(readAll(complete).slice(0, -1)).toEqual([...reader.read(RESPONSE), ...reader.end()].slice(0, -1));
    expect(parsed(complete).map(({ sequence_number: number }) => number)).toEqual(parsed(complete).map((_, at) => at));
  });

  it("in place of a stream goes out in part where not all of it is held for", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(RESPONSE)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    expect(open().showShare(unstreamed.part, 0)).toBeNull();
    const share = stream.showShare(unstreamed.part, 0.3);
    const shown = parsed(Buffer.concat([share ?? Buffer.alloc(0), stream.stop([0], BILLED)]));
    expect(shown.map(({ type }) => String(type).replace("response.", ""))).toEqual(
      (
        "created output_item.added output_item.done output_item.added content_part.added output_text.delta " +
        "output_text.done content_part.done output_item.done incomplete"
      ).split(" "),
    );
    expect(shown.at(-1)).toMatchObject({ response: { output: [REASONING, { content: [{ text: "Hello" }] }] } });
  });
});

describe("an error", () => {
  it("costs nothing before any count, and refuses by its code", () => {
    expect(RESPONSES_FORMAT.failureOf({ code: "server_is_overloaded" }, null)).toMatchObject({ kind: "unbilled" });
    expect(RESPONSES_FORMAT.failureOf({ code: "server_error" }, USAGE)).toMatchObject({ kind: "perhaps_billed" });
    expect(RESPONSES_FORMAT.failureOf({ code: "context_length_exceeded" }, null)).toMatchObject({ kind: "refused" });
  });
});
