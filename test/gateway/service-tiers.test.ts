// A provider's project may have a dearer tier for requests that name none. Ours name the one that is priced, from every client.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeAnthropic } from "./fakes/anthropic.ts";
import { startFakeChat } from "./fakes/chat.ts";
import type { Json } from "./fakes/anthropic-wire.ts";
import { startFakeResponses } from "./fakes/responses.ts";
import { MATRIX_CLIENTS } from "./matrix-clients.ts";
import { type Bench, modelOf, openBench, upstreamOf } from "./support.ts";

type Fake = {
  readonly baseUrl: string;
  readonly requests: readonly { readonly body: Json }[];
  readonly stop: () => Promise<void>;
};

const KINDS = ["openai-compatible", "openai-responses", "anthropic"] as const;
type Kind = (typeof KINDS)[number];

let fakes: Readonly<Record<Kind, Fake>>;
let bench: Bench;

beforeAll(async () => {
  fakes = {
    "openai-compatible": await startFakeChat(),
    "openai-responses": await startFakeResponses(),
    anthropic: await startFakeAnthropic({ thinking: "adaptive" }),
  };
  const upstreams = KINDS.flatMap((kind) => {
    const { baseUrl } = fakes[kind];
    const known = { kind, takesServiceTier: true } as const;
    return [
      upstreamOf(kind, baseUrl, { kind }),
      upstreamOf(`${kind}-known`, baseUrl, known),
      upstreamOf(`${kind}-unknown`, baseUrl, { kind, takesServiceTier: false }),
    ];
  });
  const models = upstreams.map(({ id }) => modelOf(`acme/${id}`, { routes: [{ upstream: id, model: "m" }] }));
  bench = openBench({ models, upstreams });
});
afterAll(async () => {
  await bench.upstreams.close();
  await Promise.all(Object.values(fakes).map((fake) => fake.stop()));
});

const STANDARD: Readonly<Record<Kind, string>> = {
  "openai-compatible": "default",
  "openai-responses": "default",
  anthropic: "standard_only",
};

describe.each(MATRIX_CLIENTS)("a $name request without a tier", (client) => {
  async function tierAt(kind: Kind, suffix: string, stream: boolean): Promise<unknown> {
    const model = `acme/${kind}${suffix}`;
    const given = await client.send(bench, client.bodyOf({ model, said: "hi", stream }), { model, stream });
    expect(given).toMatchObject({ outcome: "answered", error: null });
    return fakes[kind].requests.at(-1)?.body["service_tier"];
  }

  it.each([true, false])("names the standard one where the upstream knows it, streamed: %s", async (stream) => {
    for (const kind of KINDS) expect(await tierAt(kind, "-known", stream)).toBe(STANDARD[kind]);
  });

  it("names none where the operator has set that the upstream knows none", async () => {
    for (const kind of KINDS) expect(await tierAt(kind, "-unknown", true)).toBeUndefined();
  });

  it("names one at the kinds whose protocol has it, and at no other server of chat", async () => {
    expect(await tierAt("anthropic", "", true)).toBe("standard_only");
    expect(await tierAt("openai-responses", "", true)).toBe("default");
    expect(await tierAt("openai-compatible", "", true)).toBeUndefined();
  });
});
