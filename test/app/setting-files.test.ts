// Every setting can be read from a file that NAME_FILE names. Which settings there are is asked of the configuration itself.

import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Config, readConfig } from "../../src/app/config/config.ts";
import { openSettings } from "../../src/app/config/environment.ts";
import { PRESET_VARIABLES } from "../../src/gateway/upstreams/presets.ts";

/** A value of each setting that holds a secret or may hold one, so that all of them are read. */
const SECRETS: Readonly<Record<string, string>> = {
  SALDO_AUTH_SECRET: "a".repeat(40),
  SALDO_SECRETS_KEY: "s".repeat(40),
  SALDO_BACKUP_KEY: "b".repeat(40),
  SALDO_PROOF_KEY: "p".repeat(40),
  SALDO_PROOF_WEBHOOK_URL: "https://roots.example/hooks/secret",
  DATABASE_URL: "postgres://saldo:secret@db.example/saldo",
  DATABASE_OWNER_URL: "postgres://owner:secret@db.example/saldo",
  DATABASE_REQUEST_URL: "postgres://saldo_request:secret@db.example/saldo",
  DATABASE_READ_URL: "postgres://saldo:secret@standby.example/saldo",
  SALDO_CELLS: "two=postgres://saldo:secret@two.example/saldo",
  SMTP_URL: "smtps://user:secret@smtp.example",
  MIDTRANS_SERVER_KEY: "midtrans",
  XENDIT_API_KEY: "xendit",
  XENDIT_CALLBACK_TOKEN: "token",
  SALDO_ETHEREUM_RPC_URL: "https://node.example/v3/key",
  SALDO_ETHEREUM_SECOND_RPC_URL: "https://other.example/v3/key",
  SALDO_BSC_RPC_URL: "https://bsc.example/key",
  SALDO_BSC_SECOND_RPC_URL: "https://other.example/key",
  ETHEREUM_WALLET: `0x${"01".repeat(32)}`,
  BSC_WALLET: `0x${"02".repeat(32)}`,
  SALDO_PKCS11_PIN: "1234567",
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "aws",
  AWS_SESSION_TOKEN: "session",
  SALDO_GOOGLE_KMS_CREDENTIALS: "{}",
  ...Object.fromEntries(PRESET_VARIABLES.map((name) => [name, `https://of.example/${name}`])),
};
const SETTINGS = {
  NODE_ENV: "production",
  SALDO_ETHEREUM_KEY_VARIABLE: "ETHEREUM_WALLET",
  SALDO_BSC_KEY_VARIABLE: "BSC_WALLET",
  // These name files or public places, and hold no secret.
  SALDO_PUBLIC_URL: "https://api.example.com",
};
/** What the name of a setting with a secret ends in. */
const MAY_BE_SECRET = /_(?:KEY|SECRET|TOKEN|PIN|PASSWORD|URL)$/;
/** Names with such an end that hold none: public addresses, files of a certificate, a bound. */
const NO_SECRET = /_TLS_KEY$|_PER_KEY$|_PUBLIC_URL$|_(?:SNAP|API|PASSWORDS|KMS)_URL$/;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-setting-files-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** The names that the configuration asks for. */
function namesAsked(environment: Readonly<Record<string, string>>): string[] {
  const settings = openSettings(environment);
  const names = new Set<string>();
  const config = readConfig(environment, {
    ...settings,
    valueOf(name) {
      names.add(name);
      return settings.valueOf(name);
    },
  });
  for (const name of PRESET_VARIABLES) config.variable(name);
  return [...names];
}

/** What a configuration holds, with the variables that are read by name. */
const contentOf = (config: Config) => ({
  ...JSON.parse(JSON.stringify(config)),
  variables: Object.keys(SECRETS).map((name) => config.variable(name)),
});

async function fileWith(name: string, text: string, mode = 0o600): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}

it("knows a value of every setting that may hold a secret", () => {
  const asked = namesAsked({ ...SETTINGS, ...SECRETS });
  expect(asked.length).toBeGreaterThan(60);
  const secret = asked.filter((name) => MAY_BE_SECRET.test(name) && !NO_SECRET.test(name));
  expect(secret.filter((name) => SECRETS[name] === undefined)).toEqual([]);
});

it.each(Object.keys(SECRETS))("reads %s from a file, without the line's end, and refuses both", async (name) => {
  const { [name]: value = "", ...others } = SECRETS;
  const direct = contentOf(readConfig({ ...SETTINGS, ...SECRETS }));
  for (const end of ["", "\n", "\r\n"]) {
    const file = await fileWith(name, `${value}${end}`);
    const config = readConfig({ ...SETTINGS, ...others, [`${name}_FILE`]: file });
    expect(contentOf(config)).toEqual(direct);
    expect(config.fileAdvice()).toEqual([]);
  }
  const both = { ...SETTINGS, ...SECRETS, [`${name}_FILE`]: await fileWith(name, value) };
  expect(() => readConfig(both).variable(name)).toThrow(`${name} and ${name}_FILE must not be set both`);
});

it.each([
  ["0600", false],
  ["0400", false],
  ["0440", false],
  ["0660", true],
  ["0604", true],
  ["0644", true],
])("advises to shut a file of mode %s: %s", async (mode, isOpen) => {
  const file = await fileWith("auth", "a".repeat(40), Number.parseInt(mode, 8));
  const advice = readConfig({ SALDO_AUTH_SECRET_FILE: file }).fileAdvice();
  const expected = expect.stringMatching(/^SALDO_AUTH_SECRET_FILE names a file that other users .* 0600/);
  expect(advice).toEqual(isOpen ? [expected] : []);
  expect(advice.join()).not.toContain("aaaa");
});
