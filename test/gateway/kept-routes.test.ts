// A conversation at a model with several routes: it stays where its thoughts were made, and goes on elsewhere without them.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeAnthropic, startFakeAnthropic } from "./fakes/anthropic.ts";
import type { Json } from "./fakes/anthropic-wire.ts";
import { type FakeResponses, startFakeResponses } from "./fakes/responses.ts";
import type { Given, MatrixClient } from "./matrix-client.ts";
import { MATRIX_CLIENTS } from "./matrix-clients.ts";
import { type Bench, modelOf, openBench, upstreamOf } from "./support.ts";

/** No process listens there. */
const NOWHERE = "http://127.0.0.1:9/v1";

let claude: FakeAnthropic;
let gpt: FakeResponses;
const opened: Bench[] = [];

beforeAll(async () => {
  claude = await startFakeAnthropic({ thinking: "adaptive" });
  gpt = await startFakeResponses({ writesCache: false });
});
beforeEach(() => {
  claude.requests.length = 0;
  gpt.requests.length = 0;
});
afterAll(async () => {
  await Promise.all(opened.map(({ upstreams }) => upstreams.close()));
  await claude.stop();
  await gpt.stop();
});

const ACCEPTS = { thinking: "adaptive", sampling: false, prefill: false, cacheMarkers: false } as const;

/** A gateway whose model has two routes, Claude's first, of which some are down. */
function open(...down: readonly ("claude" | "gpt")[]): Bench {
  const urlOf = (id: "claude" | "gpt", { baseUrl }: { readonly baseUrl: string }) =>
    down.includes(id) ? NOWHERE : baseUrl;
  const bench = openBench({
    models: [
      modelOf("acme/m", {
        hiddenOutput: true,
        accepts: ACCEPTS,
        routes: ["claude", "gpt"].map((upstream) => ({ upstream, model: "m" })),
      }),
    ],
    upstreams: [
      upstreamOf("claude", urlOf("claude", claude), { kind: "anthropic" }),
      upstreamOf("gpt", urlOf("gpt", gpt), { kind: "openai-responses" }),
    ],
  });
  opened.push(bench);
  return bench;
}

const ASKED = { model: "acme/m", stream: false } as const;
const calls = () => ({ claude: claude.requests.length, gpt: gpt.requests.length });
const lastOf = ({ requests }: { readonly requests: readonly { readonly body: unknown }[] }) =>
  JSON.stringify(requests.at(-1)?.body);

async function begin(client: MatrixClient, bench: Bench): Promise<{ readonly body: Json; readonly given: Given }> {
  const body = client.bodyOf({ ...ASKED, said: "!think !call", thinks: true, tools: ["look"] });
  const given = await client.send(bench, body, ASKED);
  expect(given.outcome).toBe("answered");
  return { body, given };
}

const next = (client: MatrixClient, { body, given }: { readonly body: Json; readonly given: Given }): Json =>
  client.goOn(body, given.parts[0] ?? {}, () => "done");

describe.each(MATRIX_CLIENTS.map((client) => ({ client, name: client.name })))(
  "a conversation of $name",
  ({ client }) => {
    it("stays at the route that answered it while that can answer, and its thoughts go back there", async () => {
      const turn = await begin(client, open("claude"));
      const bench = open();
      const given = await client.send(bench, next(client, turn), ASKED);
      expect(given.outcome).toBe("answered");
      expect(calls()).toEqual({ claude: 0, gpt: 2 });
      expect(lastOf(gpt)).toContain("gAAAAAB");
      expect(bench.ledger.settlement).toMatchObject({ upstream: "gpt" });
    });

    it("goes on at another route where it must, without the thoughts of the first one", async () => {
      const turn = await begin(client, open("claude"));
      const bench = open("gpt");
      const given = await client.send(bench, next(client, turn), ASKED);
      expect(given.outcome).toBe("answered");
      expect(client.shown(given).text).toBe("done");
      expect(calls()).toEqual({ claude: 1, gpt: 1 });
      expect(lastOf(claude)).not.toContain("gAAAAAB");
      expect(bench.ledger.settlement).toMatchObject({ upstream: "claude" });
    });

    it("begins at the first route of the catalog", async () => {
      const turn = await begin(client, open());
      expect(calls()).toEqual({ claude: 1, gpt: 0 });
      await client.send(open(), next(client, turn), ASKED);
      expect(calls()).toEqual({ claude: 2, gpt: 0 });
      expect(lastOf(claude)).toContain("EqQB");
    });

    it("is not kept waiting by a route that has just failed", async () => {
      const turn = await begin(client, open("claude"));
      const bench = open("gpt");
      for (const _ of [1, 2]) await client.send(bench, next(client, turn), ASKED);
      expect(bench.events.filter(({ kind }) => kind === "attempt_failed")).toHaveLength(1);
      expect(calls()).toEqual({ claude: 2, gpt: 1 });
    });
  },
);
