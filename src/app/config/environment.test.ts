import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { forgetSettings, openSettings } from "./environment.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-settings-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileWith(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

it("reads a setting from the file that NAME_FILE names, as a vault writes it", async () => {
  const secret = "s".repeat(40);
  const files = {
    SALDO_AUTH_SECRET_FILE: await fileWith("auth", `${secret}\n`),
    OPENAI_API_KEY_FILE: await fileWith("openai", "sk-of-a-vault"),
    SALDO_BSC_KEY_VARIABLE: "WALLET",
    SALDO_BSC_RPC_URL: "https://node.example",
    WALLET_FILE: await fileWith("wallet", "0x1"),
  };
  const config = readConfig(files);
  expect(config.authSecrets).toEqual([secret]);
  expect([config.variable("OPENAI_API_KEY"), config.variable("WALLET")]).toEqual(["sk-of-a-vault", "0x1"]);
  expect(() => readConfig({ ...files, SALDO_AUTH_SECRET: secret })).toThrow(
    /SALDO_AUTH_SECRET_FILE must not be set both/,
  );
  const empty = await fileWith("empty", "\n");
  expect(() => readConfig({ SALDO_SECRETS_KEY_FILE: empty })).toThrow(/^SALDO_SECRETS_KEY_FILE names an empty file/);
  const missing = join(folder, "nowhere");
  expect(() => readConfig({ SALDO_AUTH_SECRET_FILE: missing })).toThrow(/^SALDO_AUTH_SECRET_FILE names a file/);
});

it("takes what was read out of an environment, and hands it to workers", () => {
  const environment = { NODE_ENV: "production", PATH: "/bin", SALDO_AUTH_SECRET: "x", ACME_API_KEY: "y", OTHER: "z" };
  const settings = openSettings(environment);
  for (const name of ["NODE_ENV", "SALDO_AUTH_SECRET", "SALDO_HOST"]) settings.valueOf(name);
  const variables = settings.variables();
  expect(variables).toEqual({ NODE_ENV: "production", SALDO_AUTH_SECRET: "x", ACME_API_KEY: "y" });
  forgetSettings(environment, variables);
  expect(environment).toEqual({ NODE_ENV: "production", PATH: "/bin", OTHER: "z" });
  expect(settings.valueOf("SALDO_AUTH_SECRET")).toBe("x");
});
