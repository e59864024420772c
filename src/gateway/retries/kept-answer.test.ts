import { expect, test } from "vitest";
import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import { type KeptAnswer, readKeptAnswer, writeKeptAnswer } from "./kept-answer.ts";

const passed = Buffer.from("data: {}\n\n");
const facts = { origin: "alpha", format: CHAT_FORMAT };

test.each<[string, KeptAnswer]>([
  ["in one piece", { ...facts, demo: false, streamed: false, bytes: Buffer.from('{\n"a":1}') }],
  ["streamed", { ...facts, demo: true, streamed: true, bytes: passed }],
])("an answer %s comes back as it was kept", (_name, answer) => {
  expect(readKeptAnswer(writeKeptAnswer(answer))).toEqual(answer);
});

test("what older code kept is no answer any more", () => {
  expect(readKeptAnswer(Buffer.concat([Buffer.from([1, 0]), passed]))).toBeNull();
  expect(readKeptAnswer(Buffer.from([0, 0, 0x7b, 0x7d]))).toBeNull();
  expect(readKeptAnswer(Buffer.concat([Buffer.from('{"demo":false,"closing":[]}\n'), passed]))).toBeNull();
});
