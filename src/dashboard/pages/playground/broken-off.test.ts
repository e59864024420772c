import { create, type JsonObject } from "@bufbuild/protobuf";
import { expect, it, vi } from "vitest";
import { StreamMessageResponseSchema } from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { StreamResponseResponseSchema } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { BrokenOff } from "./piece.ts";

// Both make their client of the page's address.
vi.stubGlobal("window", { location: { origin: "https://saldo.example" } });
const { pieceOf: pieceOfMessages } = await import("./send-messages.ts");
const { pieceOf: pieceOfResponses } = await import("./send-responses.ts");

const messages = (error: JsonObject) => () =>
  pieceOfMessages(create(StreamMessageResponseSchema, { type: "error", error }));
const responses = (type: string, event: JsonObject) => () =>
  pieceOfResponses(create(StreamResponseResponseSchema, { type, event }));
const failed = (code: string) => responses("response.failed", { response: { error: { code, message: "why" } } });

it.each([
  ["a refusal of Messages", messages({ type: "invalid_request_error", message: "why" }), true],
  ["a busy upstream of Messages", messages({ type: "overloaded_error", message: "why" }), false],
  ["a fault of ours in Messages", messages({ type: "api_error", message: "why" }), false],
  ["a refusal of Responses", failed("invalid_prompt"), true],
  ["a prompt that is too long, of Responses", failed("context_length_exceeded"), true],
  ["a busy upstream of Responses", failed("server_error"), false],
  ["a bare error event", responses("error", { code: "server_is_overloaded", message: "why" }), false],
])("a stream that ended is known as refused or broken off: %s", (_name, read, isRefused) => {
  let thrown: unknown;
  try {
    read();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(BrokenOff);
  expect(thrown).toMatchObject({ isRefused, message: "why" });
});
