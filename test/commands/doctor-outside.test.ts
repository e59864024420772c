// The doctor on real faults outside the machine: mail, payment providers, upstreams and nodes of chains, each a server of the test.

import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Anvil } from "../chains/anvil.ts";
import { startMailServer } from "../identity/mail-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { MIDTRANS_KEY, PROVIDER_SECRETS, startFakeProvider, XENDIT_KEY } from "../top-ups/fake-provider.ts";
import { diagnose } from "./doctor-findings.ts";

/** Nothing listens there. */
const CLOSED = 1;
const KEY = "sk-a-key-that-nobody-may-see";
const PASSWORD = "a%20password-that-nobody-may-see";
const WALLET = `0x${"5".repeat(63)}1`;

let opened: TestDatabase;
let folder: string;
let settings: Record<string, string>;
const servers: Server[] = [];
beforeAll(async () => {
  opened = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "saldo-doctor-"));
  settings = { DATABASE_URL: opened.url, SALDO_DATA_DIR: folder };
});
afterAll(async () => {
  for (const server of servers) server.close();
  await opened.drop();
  await rm(folder, { recursive: true });
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

describe("the mail server", () => {
  /** A server whose answers are these, by the beginning of a line; the empty one is its greeting. Null: it is silent. */
  const smtp = (answers: Readonly<Record<string, string>> | null): Promise<number> =>
    listen(
      createServer((socket) => {
        socket.on("error", () => socket.destroy());
        if (answers === null) return;
        socket.write(answers[""] ?? "220 test\r\n");
        createInterface(socket).on("line", (line) => {
          const known = Object.keys(answers).find((verb) => verb !== "" && line.toUpperCase().startsWith(verb));
          socket.write(answers[known ?? "-"] ?? "250 fine\r\n");
        });
      }),
    );
  const through = async (port: number, ...options: string[]) =>
    diagnose({ ...settings, SMTP_URL: `smtp://me:${PASSWORD}@127.0.0.1:${port}` }, ...options);

  it("is fine where it answers, and a sender of localhost is a warning", async () => {
    const server = await startMailServer();
    try {
      const { code, of } = await diagnose({ ...settings, SMTP_URL: server.url });
      expect(code).toBe(0);
      expect(of("smtp")).toMatchObject({ state: "ok", finding: expect.stringMatching(/answers$/) as string });
      expect(of("mail").state).toBe("warning");
      const named = await diagnose({ ...settings, SMTP_URL: server.url, SMTP_FROM: "Saldo <saldo@example.com>" });
      expect(named.of("mail").state).toBe("ok");
      expect(server.mails).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  it("is failed behind a closed port, where it refuses the login or the client, and where it is silent", async () => {
    const faults = [
      [await through(CLOSED), /cannot be reached: .*ECONNREFUSED/],
      [
        await through(await smtp({ EHLO: "250-test\r\n250 AUTH PLAIN\r\n", AUTH: `535 not ${PASSWORD}\r\n` })),
        /refuses the login$/,
      ],
      [await through(await smtp({ "": "554 not you\r\n" })), /refuses this client/],
      [await through(await smtp(null), "--seconds", "1"), /cannot be reached|did not end within 1 s/],
    ] as const;
    for (const [{ code, stdout, of }, finding] of faults) {
      expect(code).toBe(1);
      expect(of("smtp")).toMatchObject({ state: "failed", finding: expect.stringMatching(finding) as string });
      expect(stdout).not.toMatch(/nobody-may-see/);
    }
  });
});

describe("payment providers", () => {
  it("are fine with their key, and failed with another, with an error and behind a closed port", async () => {
    const provider = await startFakeProvider();
    const at = (url: string, keys: Record<string, string>) =>
      diagnose({ ...settings, MIDTRANS_API_URL: `${url}/core`, XENDIT_API_URL: url, ...keys });
    const keys = { MIDTRANS_SERVER_KEY: MIDTRANS_KEY, XENDIT_API_KEY: XENDIT_KEY };
    try {
      const fine = await at(provider.base, keys);
      expect(fine.of("midtrans")).toMatchObject({ state: "ok", finding: "answers and takes the key" });
      expect(fine.checks.filter(({ check }) => check === "xendit").map(({ state }) => state)).toEqual([
        "ok",
        "warning",
      ]);
      const wrong = await at(provider.base, {
        MIDTRANS_SERVER_KEY: `${MIDTRANS_KEY}x`,
        XENDIT_API_KEY: `${XENDIT_KEY}x`,
      });
      expect(wrong.code).toBe(1);
      for (const name of ["midtrans", "xendit"])
        expect(wrong.of(name)).toMatchObject({ state: "failed", finding: "the provider answered 401" });
      const away = await at(`http://127.0.0.1:${CLOSED}`, keys);
      expect(away.of("midtrans").finding).toContain("ECONNREFUSED");
      provider.misbehave(500);
      const ill = await at(provider.base, keys);
      expect(ill.of("xendit").finding).toContain("answered 500");
      for (const { stdout } of [fine, wrong, away, ill])
        for (const secret of PROVIDER_SECRETS) expect(stdout).not.toContain(secret);
    } finally {
      await provider.stop();
    }
  });
});

describe("upstreams", () => {
  const upstream = (listener: RequestListener): Promise<number> => listen(createHttpServer(listener));
  const with401: RequestListener = (request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${KEY}`;
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
    response.end(isKnown ? `{"data":[]}` : `{"error":{"message":"Incorrect API key: ${KEY}x"}}`);
  };
  const asked = (port: number, key = KEY, ...options: string[]) =>
    diagnose({ ...settings, VLLM_BASE_URL: `http://127.0.0.1:${port}`, VLLM_API_KEY: key }, ...options);

  it("are fine with their key, and failed with one that is refused", async () => {
    const port = await upstream(with401);
    const fine = await asked(port);
    expect(fine.of("upstream vllm")).toMatchObject({
      state: "ok",
      finding: `127.0.0.1:${port} answers and takes the key`,
    });
    expect(fine.of("clock").finding).toContain("127.0.0.1");
    const wrong = await asked(port, `${KEY}x`);
    expect(wrong.code).toBe(1);
    expect(wrong.of("upstream vllm")).toMatchObject({ state: "failed", advice: "Set VLLM_API_KEY." });
    for (const { stdout } of [fine, wrong]) expect(stdout).not.toContain(KEY);
  });

  it("are failed behind a closed port, with an error, and where they do not answer; without a list they are a warning", async () => {
    const status = (code: number) => upstream((_request, response) => response.writeHead(code).end());
    const cases = [
      [await asked(CLOSED), "failed", /cannot be reached: .*ECONNREFUSED/],
      [await asked(await status(500)), "failed", /answers 500/],
      [await asked(await status(404)), "warning", /the key was not tried/],
      [await asked(await upstream(() => {}), KEY, "--seconds", "1"), "failed", /cannot be reached/],
    ] as const;
    for (const [{ of }, state, finding] of cases)
      expect(of("upstream vllm")).toMatchObject({ state, finding: expect.stringMatching(finding) as string });
  });

  it("show a clock of this machine that disagrees with theirs", async () => {
    const port = await upstream((_request, response) => {
      response.sendDate = false;
      response.setHeader("date", new Date(Date.now() - 120_000).toUTCString());
      response.end("{}");
    });
    const { code, of } = await asked(port);
    expect(code).toBe(1);
    expect(of("clock")).toMatchObject({
      state: "failed",
      finding: expect.stringMatching(/^is 12\d s ahead of 127/) as string,
    });
  });

  it("are failed where models are routed to one without its key, or to one that is not set up", async () => {
    const port = await upstream(with401);
    const catalog = join(folder, "catalog.yaml");
    const model = (id: string, to: string) =>
      `  - { id: ${id}, name: A, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "1" }, routes: [{ upstream: ${to}, model: m }] }\n`;
    await writeFile(
      catalog,
      `upstreams:\n  - { id: local, kind: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", api_key_env: LOCAL_API_KEY, allow_private_address: true }\n` +
        `models:\n${model("a/local", "local")}${model("a/groq", "groq")}`,
    );
    await saldoJson(["catalog", "apply", catalog], { ...settings, GROQ_API_KEY: "gsk" });
    const { of } = await diagnose(settings);
    expect(of("upstream local")).toMatchObject({ state: "failed", advice: "Set LOCAL_API_KEY." });
    expect(of("upstream groq")).toMatchObject({ state: "failed", advice: "Set GROQ_API_KEY." });
    const fine = await diagnose({ ...settings, LOCAL_API_KEY: KEY });
    expect(fine.of("upstream local").state).toBe("ok");
  });
});

describe("nodes of chains", () => {
  // A node of another provider has its key in the path.
  it("are fine on their chain, and failed on another, behind a closed port and with a key that is none", async () => {
    const anvil = await Anvil.start();
    const of = async (url: string, more: Record<string, string>) => {
      const chain = {
        SALDO_ETHEREUM_RPC_URL: url,
        SALDO_ETHEREUM_KEY_VARIABLE: "WALLET_SECRET",
        WALLET_SECRET: WALLET,
      };
      const diagnosis = await diagnose({ ...settings, ...chain, ...more });
      expect(diagnosis.stdout).not.toMatch(/nobody-may-see|5{12}/);
      return diagnosis;
    };
    try {
      const fine = await of(anvil.url, { SALDO_ETHEREUM_CHAIN_ID: "31337" });
      expect(fine.of("ethereum")).toMatchObject({
        state: "ok",
        finding: expect.stringContaining("at block 0") as string,
      });
      expect(fine.of("ethereum, wallet")).toMatchObject({ state: "warning" });
      const other = await of(anvil.url, {});
      expect(other.code).toBe(1);
      expect(other.of("ethereum")).toMatchObject({
        state: "failed",
        finding: "the node of ethereum is on chain 31337, not on 1",
      });
      const away = await of(`http://127.0.0.1:${CLOSED}/a-project-key-that-nobody-may-see`, {});
      expect(away.of("ethereum").state).toBe("failed");
      const second = await of(anvil.url, {
        SALDO_ETHEREUM_CHAIN_ID: "31337",
        SALDO_ETHEREUM_SECOND_RPC_URL: `http://127.0.0.1:${CLOSED}/a-project-key-that-nobody-may-see`,
      });
      expect([second.of("ethereum").state, second.of("ethereum, second node").state]).toEqual(["ok", "failed"]);
      const key = await of(anvil.url, { SALDO_ETHEREUM_CHAIN_ID: "31337", WALLET_SECRET: "nonsense" });
      expect(key.of("ethereum").finding).toContain("must be 0x and 64 hexadecimal digits");
    } finally {
      await anvil.stop();
    }
  });
});
