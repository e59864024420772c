// The programs and commands of the guides run as they are written, against the demo's models.

import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const BLOCK = /^```(?<language>\w+)\n(?<code>[^]*?)^```$/gm;
const run = promisify(execFile);

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo();
});
afterAll(() => served.stop());

/** The blocks of code of a page, as a program gets it. */
async function blocksOf(page: string, language: string, kind: string): Promise<string[]> {
  const text = await (await fetch(`${served.server.httpUrl}/docs/${page}.md?lang=${language}`)).text();
  return Array.from(text.matchAll(BLOCK), ({ groups }) => groups ?? {}).flatMap((block) =>
    block["language"] === kind ? [block["code"] ?? ""] : [],
  );
}

const pages = [
  { page: "quick-start", output: /\S/ },
  { page: "streaming", output: /cost_idr/ },
  { page: "tools", output: /\S/ },
].flatMap((each) => [
  { ...each, language: "en" },
  { ...each, language: "id" },
]);

test.each(pages)("the program of $page runs: $language", async ({ page, language, output }) => {
  const { key } = await served.customer();
  const programs = await blocksOf(page, language, "js");
  expect(programs).toHaveLength(1);
  for (const program of programs) {
    const env = { ...process.env, SALDO_API_KEY: key };
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: ROOT, env });
    expect(stdout).toMatch(output);
  }
});

test.each([
  ["authentication", /"object":"list"/],
  ["streaming", /data: \[DONE\]/],
])("the commands of %s run", async (page, output) => {
  const { key } = await served.customer();
  for (const command of await blocksOf(page, "en", "sh")) {
    const env = { ...process.env, SALDO_API_KEY: key };
    const { stdout } = await run("sh", ["-c", command], { env });
    expect(stdout).toMatch(output);
  }
});
