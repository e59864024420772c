import { describe, expect, it } from "vitest";
import { wrongPathMessage } from "./wrong-paths.ts";

const SERVED = [
  "/healthz",
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/models",
  "/v1/balance",
];

describe("the message for a path that does not exist", () => {
  it.each([
    ["/v1/v1/messages", "/v1/messages"],
    ["/v1/v1/messages?beta=true", "/v1/messages"],
    ["/messages", "/v1/messages"],
    ["/v1/message", "/v1/messages"],
    ["/anthropic/v1/messages", "/v1/messages"],
    ["//v1//v1/messages/", "/v1/messages"],
    ["/v1/v1/messages/count_tokens", "/v1/messages/count_tokens"],
    ["/chat/completions", "/v1/chat/completions"],
    ["/v1/chat/completion", "/v1/chat/completions"],
    ["/v1/chat/completions/chat/completions", "/v1/chat/completions"],
    ["/v1/completions", "/v1/chat/completions"],
    ["/responses", "/v1/responses"],
    ["/v1/responses/v1/responses", "/v1/responses"],
    ["/v1/embedding", "/v1/embeddings"],
    ["/api/v1/models", "/v1/models"],
    ["/models/acme/large", "/v1/models/{id}"],
  ])("%s: names %s and the base URLs", (url, right) => {
    expect(wrongPathMessage(url, SERVED)).toBe(
      `There is no such path. Use ${right}. A base URL ends in /v1 for OpenAI's clients, and before /v1 for Anthropic's.`,
    );
  });

  it.each([
    [
      "/v1beta/models/acme:embedContent",
      "Of Gemini's API there are generateContent, streamGenerateContent and countTokens at /v1beta/models/{id}. Its base URL ends before /v1beta.",
    ],
    ["/v1/responses/resp_1", "Responses are not stored. Send the whole conversation in `input`."],
    ["/v1/responses/resp_1/cancel", "Responses are not stored. Send the whole conversation in `input`."],
    ["/v1/responses/compact", "Nothing is compacted here. Ask a model for a summary at /v1/responses."],
    ["/v1/files", "/openapi.json has every path."],
  ])("%s: %s", (url, message) => {
    expect(wrongPathMessage(url, SERVED)).toBe(`There is no such path. ${message}`);
  });

  it("has no advice outside the API", () => {
    expect(wrongPathMessage("/wp-admin?x=/v1/messages", SERVED)).toBe("There is no such path.");
  });
});
