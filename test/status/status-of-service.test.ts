// The public status of a real service: what its records show, what it keeps to itself, and its answer without a database.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresProxy } from "../faults/postgres-proxy.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { saldoJson } from "../setup/saldo-command.ts";

type Shown = {
  readonly state: string;
  readonly complete: boolean;
  readonly components: readonly { kind: string; name: string; state: string; since?: string; incidents: unknown[] }[];
};

const SECRET_ID = "jkt-rack-7";
const SECRET_ADDRESS = "10.1.2.3";
const upstream = (id: string, base_url: string) => ({
  id,
  kind: "openai-compatible",
  base_url,
  allow_private_address: true,
});
const modelAt = (id: string, upstreamId: string) => ({
  id,
  name: id,
  context_length: 8_192,
  max_output_tokens: 1_024,
  input_modalities: ["text"],
  price: { input: "5000", output: "15000" },
  routes: [{ upstream: upstreamId, model: "m" }],
});
const CATALOG = {
  upstreams: [
    upstream(SECRET_ID, `http://${SECRET_ADDRESS}:8000/v1`),
    upstream("openai-2", "https://api.openai.com/v1"),
    upstream("unused", "https://api.deepseek.com/v1"),
  ],
  models: [modelAt("acme/one", SECRET_ID), modelAt("acme/two", "openai-2")],
};

/** Puts the catalog there, and failed calls to the upstream that only its operator knows. */
async function prepare({ database, url }: TestDatabase): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "saldo-status-"));
  try {
    const file = join(folder, "catalog.json");
    await writeFile(file, JSON.stringify(CATALOG));
    await saldoJson(["catalog", "apply", file], { DATABASE_URL: url });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await database.pool.query(
    `INSERT INTO upstream_minute (upstream, minute, answered, failed, first_byte, last_failed_at, last_failure)
     VALUES ($1, date_trunc('minute', clock_timestamp()), 0, 4711, '{}', clock_timestamp(), 'refused by rack')`,
    [SECRET_ID],
  );
}

describe("the status of a service", () => {
  let opened: TestDatabase;
  let proxy: PostgresProxy;
  let saldo: SaldoHere;
  beforeAll(async () => {
    opened = await createTestDatabase();
    proxy = await PostgresProxy.before(opened.url);
    await prepare(opened);
    saldo = await SaldoHere.start({ DATABASE_URL: proxy.urlFor(opened.url) });
  });
  afterAll(async () => {
    proxy.isAway = false;
    await saldo.stop();
    await proxy.close();
    await opened.drop();
  });

  const read = async (headers: Record<string, string> = {}) => {
    const answer = await fetch(`${saldo.httpUrl}/status.json`, { headers });
    const text = await answer.text();
    return { status: answer.status, text, shown: JSON.parse(text) as Shown };
  };

  it("is there while the database is away, also for a browser with a session, and recovers by itself", async () => {
    proxy.cutAll({ refuse: true });
    const { status, text, shown } = await read({ cookie: "saldo.session=of-somebody" });
    expect([status, shown.state, shown.complete]).toEqual([200, "down", false]);
    expect(shown.components.map(({ kind, state }) => [kind, state])).toEqual([
      ["gateway", "down"],
      ["top_ups", "down"],
      ["transfers", "down"],
    ]);
    expect(text).not.toMatch(/ECONN|127\.0\.0\.1|postgres|select/i);
    proxy.isAway = false;
    await expect.poll(async () => (await read()).shown.complete).toBe(true);
  });

  it("names upstreams that everyone knows, and no id, host, failure or count of the others", async () => {
    const { text, shown } = await read();
    expect(shown.components.map(({ kind, name, state }) => [kind, name, state])).toEqual([
      ["gateway", "", "operational"],
      ["upstream", "Demo", "operational"],
      ["upstream", "OpenAI", "operational"],
      ["upstream", "", "down"],
      ["top_ups", "", "operational"],
      ["transfers", "", "operational"],
    ]);
    expect(shown.state).toBe("degraded");
    expect(shown.components.find(({ state }) => state === "down")).toMatchObject({
      since: expect.stringMatching(/^20/),
      incidents: [{ state: "down" }],
    });
    for (const secret of [SECRET_ID, SECRET_ADDRESS, "refused by rack", "4711", "openai-2", "DeepSeek"])
      expect(text).not.toContain(secret);
  });
});
