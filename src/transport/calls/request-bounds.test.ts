import { expect, test } from "vitest";
import { requestBoundsOf, requestLimitOf } from "./request-bounds.ts";
import { services } from "./services.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** The methods that may be larger than the rest, with what they may be. */
const LARGER = {
  CreateEmbeddings: 8 * MIB,
  CreateChatCompletion: 32 * MIB,
  StreamChatCompletion: 32 * MIB,
  CreateResponse: 32 * MIB,
  StreamResponse: 32 * MIB,
  CountInputTokens: 32 * MIB,
  CreateMessage: 32 * MIB,
  StreamMessage: 32 * MIB,
  CountTokens: 32 * MIB,
  GenerateContent: 32 * MIB,
  StreamGenerateContent: 32 * MIB,
  CountContentTokens: 32 * MIB,
  PreviewCatalog: 4 * MIB,
  PublishCatalog: 4 * MIB,
};

const methods = Object.values(services).flatMap((service) => service.methods);

test("gives every method 64 KiB, but those that carry model content or a catalog", () => {
  const larger = methods.filter((method) => requestLimitOf(method) !== 64 * KIB);
  expect(Object.fromEntries(larger.map((method) => [method.name, requestLimitOf(method)]))).toEqual(LARGER);
});

test("takes compressed requests only for model content", () => {
  const compressed = methods.filter((method) => requestBoundsOf(method).compression).map((method) => method.name);
  expect(compressed).toEqual([
    "CreateChatCompletion",
    "StreamChatCompletion",
    "CreateMessage",
    "StreamMessage",
    "CountTokens",
    "CreateResponse",
    "StreamResponse",
    "CountInputTokens",
    "GenerateContent",
    "StreamGenerateContent",
    "CountContentTokens",
    "CreateEmbeddings",
  ]);
});
