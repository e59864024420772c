// What a catalog may have sent to an upstream, against all that the configuration reads.

import { expect, test } from "vitest";
import { isKeyVariable } from "../../src/catalog/upstream-file.ts";
import { readConfig } from "../../src/app/config/config.ts";
import { PRESET_VARIABLES } from "../../src/gateway/upstreams/presets.ts";

test("no variable that the service reads for itself can be named as an upstream's", () => {
  const read = new Set<string>();
  const set: Record<string, string> = {
    MIDTRANS_SERVER_KEY: "a key",
    XENDIT_API_KEY: "a key",
    SALDO_ETHEREUM_RPC_URL: "http://127.0.0.1:8545",
    SALDO_ETHEREUM_KEY_VARIABLE: "HOT_WALLET_KEY",
    SALDO_BSC_RPC_URL: "http://127.0.0.1:8545",
    SALDO_BSC_KEY_VARIABLE: "HOT_WALLET_KEY",
    HOT_WALLET_KEY: "a key",
  };
  const environment = new Proxy(set, {
    get: (target, name) => {
      read.add(String(name));
      return target[String(name)];
    },
  });
  readConfig(environment);
  expect([...read]).toEqual(expect.arrayContaining(["XENDIT_API_KEY", "HOT_WALLET_KEY", "DATABASE_URL", "SMTP_URL"]));
  expect([...read].filter(isKeyVariable)).toEqual([]);
});

test("the keys of the presets can", () => {
  const keys = PRESET_VARIABLES.filter((name) => !name.endsWith("_BASE_URL"));
  expect(keys.length).toBeGreaterThan(5);
  expect(keys.filter((name) => !isKeyVariable(name))).toEqual([]);
});
