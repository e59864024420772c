import { describe, expect, it } from "vitest";
import type { AnswerReader } from "./closed-loop.ts";
import { WholeAnswerReader } from "./load.ts";
import { StreamReader, TRUNCATED, WITHOUT_USAGE } from "./stream-reader.ts";

function streamOf(...events: string[]): Buffer {
  const frames = events.map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
  return Buffer.from(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${frames.join("")}0\r\n\r\n`);
}

const TEXT = 'data: {"delta":"é"}\n\n';
const USAGE = 'data: {"usage":{"prompt_tokens":1}}\n\n';
const DONE = "data: [DONE]\n\n";

function readAll(reader: AnswerReader, ...parts: Buffer[]): number {
  reader.restart();
  return parts.reduce((events, part) => events + reader.read(part), 0);
}

describe("a stream's reader", () => {
  it("counts the same events wherever the bytes are cut", () => {
    const bytes = streamOf(TEXT, TEXT, USAGE, DONE);
    const reader = new StreamReader();
    for (let at = 1; at < bytes.length; at++) {
      expect(readAll(reader, bytes.subarray(0, at), bytes.subarray(at))).toBe(4);
      expect(reader).toMatchObject({ ended: true, problem: null });
    }
  });

  it("counts an event that spans several HTTP chunks once", () => {
    const bytes = streamOf(
      TEXT.slice(0, -1),
      `\n${USAGE.slice(0, 9)}`,
      USAGE.slice(9),
      DONE.slice(0, 8),
      DONE.slice(8),
    );
    const reader = new StreamReader();
    expect(readAll(reader, bytes)).toBe(3);
    expect(reader).toMatchObject({ ended: true, problem: null });
  });

  it("reports a stream without [DONE] as truncated, and one without usage", () => {
    const reader = new StreamReader();
    readAll(reader, streamOf(TEXT, USAGE));
    expect(reader.problem).toBe(TRUNCATED);
    readAll(reader, streamOf(TEXT, DONE));
    expect(reader.problem).toBe(WITHOUT_USAGE);
    readAll(reader, streamOf(TEXT, USAGE, DONE));
    expect(reader.problem).toBeNull();
  });

  it.each([
    ["Messages", 'data: {"type":"message_stop"}\n\n', 'data: {"usage":{"output_tokens":1}}\n\n'],
    ["Responses", 'data: {"type":"response.completed"}\n\n', 'data: {"usage":{"output_tokens":1}}\n\n'],
  ])("knows the end and the usage of %s", (_protocol, end, usage) => {
    const reader = new StreamReader();
    readAll(reader, streamOf(TEXT, usage, end));
    expect(reader).toMatchObject({ ended: true, problem: null });
    readAll(reader, streamOf(TEXT, USAGE, end));
    expect(reader.problem).toBe(WITHOUT_USAGE);
    readAll(reader, streamOf(TEXT, usage));
    expect(reader.problem).toBe(TRUNCATED);
  });

  it("finds the end of a stream whose chunks are larger than what it keeps", () => {
    const reader = new StreamReader();
    readAll(reader, streamOf(TEXT.repeat(500), TEXT.repeat(500) + USAGE + DONE));
    expect(reader).toMatchObject({ ended: true, problem: null });
  });

  it("does not accept an error as a stream", () => {
    const reader = new StreamReader();
    readAll(reader, Buffer.from("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}"));
    expect(reader.problem).toContain("503");
  });
});

describe("a whole answer's reader", () => {
  const body = JSON.stringify({ text: "x".repeat(600) });
  const answer = (length: number) => Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${body}`);

  it("accepts an answer wherever the bytes are cut", () => {
    const bytes = answer(body.length);
    const reader = new WholeAnswerReader();
    for (let at = 1; at < bytes.length; at++) {
      expect(readAll(reader, bytes.subarray(0, at), bytes.subarray(at))).toBe(1);
      expect(reader).toMatchObject({ ended: true, problem: null });
    }
  });

  it("refuses a body that is longer than its length, an error, and an answer too short to be one", () => {
    const reader = new WholeAnswerReader();
    readAll(reader, answer(body.length - 1));
    expect(reader.problem).not.toBeNull();
    readAll(reader, Buffer.from(`HTTP/1.1 402 Payment Required\r\ncontent-length: ${body.length}\r\n\r\n${body}`));
    expect(reader.problem).toContain("402");
    readAll(reader, Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"));
    expect(reader.problem).not.toBeNull();
  });
});
