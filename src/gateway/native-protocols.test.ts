import { describe, expect, it } from "vitest";
import type { UpstreamConfig, UpstreamKind } from "../catalog/catalog-model.ts";
import { nativeProtocols } from "./native-protocols.ts";

function upstream(id: string, kind: UpstreamKind): readonly [string, UpstreamConfig] {
  const places = { baseUrl: "https://upstream.test", apiKeyEnv: null, allowPrivateAddress: false };
  return [id, { id, kind, ...places, connectTimeoutMs: 1, firstByteTimeoutMs: 1, idleTimeoutMs: 1 }];
}

const upstreams = new Map([
  upstream("claude", "anthropic"),
  upstream("openai", "openai-responses"),
  upstream("google", "gemini"),
  upstream("other", "openai-compatible"),
  upstream("demo", "demo"),
]);
const routes = (...names: readonly string[]) => names.map((name) => ({ upstream: name, model: "m" }));

describe("the formats that a model's upstreams speak", () => {
  it.each<[readonly string[], readonly string[]]>([
    [["claude"], ["messages"]],
    [
      ["openai", "other"],
      ["responses", "chat"],
    ],
    [["google"], ["gemini"]],
    [["demo", "other"], ["chat"]],
    [["gone"], []],
  ])("of routes to %j are %j", (names, expected) => {
    expect(nativeProtocols({ kind: "chat", routes: routes(...names) }, upstreams)).toEqual(expected);
  });

  it("are none of a model that makes vectors", () => {
    expect(nativeProtocols({ kind: "embeddings", routes: routes("other") }, upstreams)).toEqual([]);
  });
});
