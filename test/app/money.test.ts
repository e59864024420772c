// The promise, seen from outside: the answers, the database and the prices give the same sum.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatMoney, IDR, idr, parseMoney } from "../../src/kernel/money.ts";
import { completion, startScriptedUpstream, type ScriptedUpstream } from "../gateway/scripted-upstream.ts";
import { chooseSeed, seededRandom } from "../money/random.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { chat, newCustomer } from "./customer.ts";

const MODEL = {
  id: "acme/large",
  context_length: 100_000,
  max_output_tokens: 1_000,
  price: { input: "5000", output: "15000", cache_hit: "950" },
  routes: [{ upstream: "local", model: "large" }],
};

describe.each(testBackends())("money through the whole service on the %s database", (backend) => {
  let opened: TestDatabase;
  let upstream: ScriptedUpstream;
  let folder: string;
  let settings: Record<string, string>;
  let nodes: (SaldoProcess | SaldoHere)[];

  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    upstream = await startScriptedUpstream();
    folder = await mkdtemp(join(tmpdir(), "saldo-app-"));
    settings = { DATABASE_URL: opened.url, SALDO_DATA_DIR: folder };
    const local = { id: "local", kind: "openai-compatible", base_url: upstream.baseUrl, allow_private_address: true };
    const file = join(folder, "catalog.yaml");
    await writeFile(file, stringify({ upstreams: [local], models: [MODEL] }));
    const applied = await saldoJson(["catalog", "apply", file], settings);
    expect(applied["changed"]).toHaveLength(2);
    // Two workers and the process of the test, so that the lanes of three ledgers are behind every sum here.
    nodes = [await SaldoProcess.start({ ...settings, SALDO_WORKERS: "2" }), await SaldoHere.start(settings)];
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await upstream.stop();
    await opened.drop();
    await rm(folder, { recursive: true });
  });

  it.each([1, 2])(
    "admits exactly as many of 100 parallel requests as the balance covers, on %i nodes",
    async (count) => {
      // Paused until every request is decided, so that no settlement gives money back meanwhile.
      let decided = (): void => {};
      const allDecided = new Promise<void>((resolve) => (decided = resolve));
      upstream.run(async (response) => {
        await allDecided;
        response.writeHead(200, { "content-type": "application/json" }).end(completion());
      });
      const body = { model: MODEL.id, max_tokens: 16, messages: [{ role: "user", content: "Hello!" }] };
      const probe = await newCustomer(settings, { amount: "1000" });
      const probing = chat(nodes[0]?.httpUrl ?? "", probe.key, body);
      await expect.poll(() => upstream.received.length).toBe(1);
      const { held = "" } = await saldoJson(["account", "show", "--account", probe.accountId], settings);
      const K = 7;
      const amount = formatMoney(idr(parseMoney(held, IDR).units * BigInt(K)));
      const { accountId, key } = await newCustomer(settings, { amount });

      const answers = Array.from({ length: 100 }, async (_, index) => {
        const response = await chat(nodes[index % count]?.httpUrl ?? "", key, body);
        await response.arrayBuffer();
        return response.status;
      });
      let answered = 0;
      for (const answer of answers) void answer.then(() => (answered += 1));
      await expect.poll(() => [answered, upstream.received.length], { timeout: 20_000 }).toEqual([100 - K, K + 1]);
      expect(await saldoJson(["account", "show", "--account", accountId], settings)).toMatchObject({ available: "0" });
      decided();
      const statuses = await Promise.all(answers);
      expect(statuses.filter((status) => status === 200)).toHaveLength(K);
      expect(statuses.filter((status) => status === 402)).toHaveLength(100 - K);
      expect((await probing).status).toBe(200);
    },
  );

  it("charges the exact sum of 1000 mixed requests", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const whole = (below: number): number => Math.floor(random() * below);
    const { accountId, key } = await newCustomer(settings, { amount: "1000000" });
    upstream.run((response, { body }) => {
      const { stream, usage } = JSON.parse(body.toString()) as { stream?: boolean; usage: object };
      const head = { "content-type": stream === true ? "text/event-stream" : "application/json" };
      if (stream !== true) return void response.writeHead(200, head).end(completion({ usage }));
      const chunk = (choices: unknown[], more = {}) =>
        `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
      response.writeHead(200, head);
      response.write(chunk([{ index: 0, delta: { content: "Halo" }, finish_reason: null }]));
      response.write(chunk([{ index: 0, delta: {}, finish_reason: "stop" }]));
      return void response.end(`${chunk([], { usage })}data: [DONE]\n\n`);
    });
    const content = "A question that is long enough for a hundred tokens of input to be possible. ".repeat(3);
    let expected = 0n;
    let costInHeaders = 0n;
    const micro = (decimal: string): bigint => parseMoney(decimal, IDR).units;
    const one = async (index: number): Promise<void> => {
      // Zero of either beside an answer is no usage and would be estimated.
      const [prompt, output] = [1 + whole(100), 1 + whole(50)];
      const cached = whole(prompt + 1);
      // The upstream answers with the usage that the request asks for: an unknown field passes through.
      const usage = {
        prompt_tokens: prompt,
        completion_tokens: output,
        total_tokens: prompt + output,
        prompt_tokens_details: { cached_tokens: cached },
      };
      const stream = index % 3 === 0;
      const response = await chat(nodes[index % 2]?.httpUrl ?? "", key, {
        model: MODEL.id,
        max_tokens: 50,
        messages: [{ role: "user", content }],
        usage,
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const weight =
        BigInt(prompt - cached) * 5_000_000_000n + BigInt(cached) * 950_000_000n + BigInt(output) * 15_000_000_000n;
      expected += (weight + 999_999n) / 1_000_000n;
      costInHeaders += micro(/"cost_idr":"([0-9.]+)"/.exec(text)?.[1] ?? "no cost");
    };
    for (let sent = 0; sent < 1000; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => one(sent + index)));
    }
    const balance = await saldoJson(["account", "show", "--account", accountId], settings);
    expect(balance, `seed ${seed}`).toMatchObject({ held: "0" });
    expect(micro("1000000") - micro(balance["posted"] ?? ""), `seed ${seed}`).toBe(expected);
    expect(costInHeaders, `seed ${seed}`).toBe(expected);
    expect(await saldoJson(["audit"], settings)).toMatchObject({ ok: true, violations: [] });
  });

  it("keeps no key, secret or upstream credential in the database", async () => {
    const { accountId, key } = await newCustomer(settings, { amount: "1000" });
    const merchant = await saldoJson(
      ["merchant", "create", "--account", accountId, "--environment", "production"],
      settings,
    );
    upstream.run((response) => void response.writeHead(200, { "content-type": "application/json" }).end(completion()));
    await chat(nodes[0]?.httpUrl ?? "", key, {
      model: MODEL.id,
      messages: [{ role: "user", content: "CANARY-PROMPT" }],
    });
    const tables = await opened.database.pool.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
    );
    const dump: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await opened.database.pool
        .query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
        .catch(() => ({ rows: [] }));
      dump.push(...rows.map(({ row }) => row));
    }
    const text = dump.join("\n");
    expect(text).toContain(accountId);
    for (const secret of [
      key,
      key.slice(8, 40),
      merchant["apiKey"],
      merchant["secretKey"],
      merchant["secretKey"]?.slice(4, 40),
      "CANARY-PROMPT",
    ]) {
      expect(secret).toBeTruthy();
      expect(text).not.toContain(secret);
    }
    expect(nodes.flatMap(({ log }) => log.map((line) => JSON.stringify(line))).join("\n")).not.toContain(key);
  });
});
