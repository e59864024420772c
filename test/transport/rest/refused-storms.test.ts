// Codex sends a refused prompt up to 30 times, other clients nearly as often. A refusal asks no upstream, holds nothing and takes no
// slot of its key, whatever protocol it is in: so it is cheap, and the client is not kept out of its window by its own repeats. A
// refusal for want of balance asks the ledger, which takes a slot (`test/security/rates.test.ts`).

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { usePlayground } from "../../gateway/playground.ts";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import { modelOf, openBench, RATE, upstreamOf } from "../../gateway/support.ts";
import { type Running, SECRET, startServers } from "../fakes.ts";

const playground = usePlayground();
let running: Running;
beforeEach(async () => {
  playground.bench = openBench({
    models: [modelOf("local/m", { contextLength: 1_000 })],
    upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
  });
  running = await startServers({ gateway: playground.bench.gateway });
  playground.upstream.run(json(completion()));
});
afterEach(() => running.servers.close(1_000));

const REPEATS = 30;

type Asked = { readonly model?: string; readonly said?: string; readonly wrong?: string; readonly stream?: boolean };
type Sent = { readonly path: string; readonly body: object };

/** A request in each protocol. `wrong` is the value of a number of it. */
const PROTOCOLS: Readonly<Record<string, (asked: Asked) => Sent>> = {
  chat: ({ model = "local/m", said = "hi", wrong = 8, stream = false }) => ({
    path: "/v1/chat/completions",
    body: { model, max_tokens: wrong, stream, messages: [{ role: "user", content: said }] },
  }),
  messages: ({ model = "local/m", said = "hi", wrong = 8, stream = false }) => ({
    path: "/v1/messages?beta=true",
    body: { model, max_tokens: wrong, stream, messages: [{ role: "user", content: said }] },
  }),
  responses: ({ model = "local/m", said = "hi", wrong = 8, stream = false }) => ({
    path: "/v1/responses",
    body: { model, max_output_tokens: wrong, stream, input: said },
  }),
  gemini: ({ model = "local/m", said = "hi", wrong = 8, stream = false }) => ({
    path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: said }] }], generationConfig: { maxOutputTokens: wrong } },
  }),
};

/** How so many repeats of a request were answered, and what is left of them. */
async function storm({ path, body }: Sent) {
  const headers = { authorization: `Bearer ${SECRET}`, "content-type": "application/json" };
  const answers = await Promise.all(
    Array.from({ length: REPEATS }, async () => {
      const response = await fetch(running.http + path, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, text: await response.text() };
    }),
  );
  const { ledger } = playground.bench;
  return {
    statuses: [...new Set(answers.map(({ status }) => status))],
    text: answers[0]?.text ?? "",
    asked: playground.upstream.received.length,
    admitted: ledger.admissions.length,
    settled: ledger.settlements.length,
    slots: running.keys.slots,
  };
}

/** What a refusal leaves. */
const NOTHING = { asked: 0, admitted: 0, settled: 0, slots: 0 };
/** No tokenizer makes less than a token of twelve bytes. */
const TOO_LONG = "word ".repeat(4_000);

describe.each(Object.entries(PROTOCOLS))("a storm of refused requests in %s", (_name, write) => {
  it.each<[string, Asked, number, RegExp]>([
    ["a model that is not sold", { model: "local/none" }, 404, /local\/none/],
    ["a wrong field", { wrong: "many" }, 400, /max|Max/],
    ["a prompt without room", { said: TOO_LONG }, 400, /too long|context|exceed/],
  ])("for %s costs nothing", async (_why, asked, status, words) => {
    for (const stream of [false, true]) {
      const { text, ...left } = await storm(write({ ...asked, stream }));
      expect(left).toMatchObject({ ...NOTHING, statuses: [status] });
      expect(text).toMatch(words);
    }
  });

  it("for a full window moves nothing, and reads no body", async () => {
    running.keys.full = true;
    expect(await storm(write({ said: TOO_LONG }))).toMatchObject({ ...NOTHING, statuses: [429] });
  });

  it("for want of balance asks the ledger alone", async () => {
    playground.bench.ledger.admitWith = () => ({ outcome: "refused", available: 0n, rate: RATE });
    const left = await storm(write({ stream: true }));
    expect(left).toMatchObject({ ...NOTHING, admitted: REPEATS, statuses: [402] });
    expect(left.text).toMatch(/balance/);
  });
});
