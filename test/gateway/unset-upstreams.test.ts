import { expect, it } from "vitest";
import { createGatewayEvents } from "../../src/app/observability/events.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { chat, DEMO_UPSTREAM, modelOf, openBench, upstreamOf } from "./support.ts";

function openLoggedBench(...[setup]: Parameters<typeof openBench>) {
  const lines: unknown[] = [];
  const { report } = createGatewayEvents({ warn: (line: unknown) => void lines.push(line) });
  return { ...openBench({ ...setup, deps: { report } }), lines };
}

it("warns once of an upstream whose credential is not set, by the name of the variable", async () => {
  const bench = openLoggedBench({
    models: [modelOf("local/a"), modelOf("local/b")],
    upstreams: [upstreamOf("local", "http://127.0.0.1:9/v1", { apiKeyEnv: "UNSET_LOCAL_API_KEY" })],
  });
  const first = await bench.send(chat("local/a", "Hello"));
  const second = await bench.send(chat("local/b", "Hello"));
  expect([first.error, second.error]).toEqual([expect.any(UpstreamBusy), expect.any(UpstreamBusy)]);
  expect(bench.ledger.admissions).toEqual([]);
  expect(bench.lines).toEqual([
    {
      event: "gateway.upstream_without_credential",
      kind: "upstream_without_credential",
      requestId: first.requestId,
      upstream: "local",
      variable: "UNSET_LOCAL_API_KEY",
    },
  ]);
});

it("sends no upstream a variable that is not for upstreams, however its name came into the catalog", async () => {
  const config = { apiKeyEnv: "MIDTRANS_SERVER_KEY" };
  const bench = openLoggedBench({
    models: [modelOf("local/a")],
    upstreams: [upstreamOf("local", "http://127.0.0.1:9/v1", config)],
  });
  expect((await bench.send(chat("local/a", "Hello"))).error).toEqual(expect.any(UpstreamBusy));
  expect(bench.lines).toMatchObject([{ kind: "upstream_without_credential", variable: "MIDTRANS_SERVER_KEY" }]);
});

it("warns of a preset that is gone with its variable, and answers by the next route", async () => {
  const routes = [
    { upstream: "openai", model: "gpt" },
    { upstream: "demo", model: "small" },
  ];
  const bench = openLoggedBench({ models: [modelOf("demo/small", { routes })], upstreams: [DEMO_UPSTREAM] });
  const { error } = await bench.send(chat("demo/small", "Hello"));
  expect(error).toBeNull();
  expect(bench.lines).toMatchObject([{ upstream: "openai", variable: "OPENAI_API_KEY" }]);
});
