import { expect, test } from "vitest";
import { type KeptAnswer, readKeptAnswer, writeKeptAnswer } from "./kept-answer.ts";

const passed = Buffer.from("data: {}\n\n");

test.each<[string, KeptAnswer]>([
  ["in one piece", { demo: false, streamed: false, json: Buffer.from('{\n"a":1}') }],
  ["streamed", { demo: true, streamed: true, passed, closing: ['{"usage":{}}', '{"text":"\n"}'] }],
  ["streamed without an end of ours", { demo: false, streamed: true, passed, closing: [] }],
])("an answer %s comes back as it was kept", (_name, answer) => {
  expect(readKeptAnswer(writeKeptAnswer(answer))).toEqual(answer);
});

test("what older code kept is no answer any more", () => {
  expect(readKeptAnswer(Buffer.concat([Buffer.from([1, 0]), passed]))).toBeNull();
  expect(readKeptAnswer(Buffer.from([0, 0, 0x7b, 0x7d]))).toBeNull();
});
