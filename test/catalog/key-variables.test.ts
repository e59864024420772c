// The variables that a catalog may name as an upstream's key, against all that the configuration reads.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isKeyVariable } from "../../src/catalog/upstream-file.ts";
import { PRESET_VARIABLES } from "../../src/gateway/upstreams/presets.ts";

// test/app/settings.test.ts compares this list with the configuration.
const LISTED = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");

test("no variable that the service reads for itself can be named as an upstream's", () => {
  const listed = Array.from(LISTED.matchAll(/^([A-Z][A-Z0-9_]*)=/gm), ([, name = ""]) => name);
  const own = listed.filter((name) => !PRESET_VARIABLES.includes(name));
  expect(own).toEqual(expect.arrayContaining(["XENDIT_API_KEY", "MIDTRANS_SERVER_KEY", "DATABASE_URL", "SMTP_URL"]));
  // The key of a wallet is in a variable that the operator names, and the example of it is refused, too.
  for (const name of [...own, "HOT_WALLET_KEY"]) expect([name, `${name}_FILE`].filter(isKeyVariable), name).toEqual([]);
});

test("the keys of the presets can", () => {
  const keys = PRESET_VARIABLES.filter((name) => !name.endsWith("_BASE_URL"));
  expect(keys.length).toBeGreaterThan(5);
  expect(keys.filter((name) => !isKeyVariable(name))).toEqual([]);
});
