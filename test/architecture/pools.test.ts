// Pools of connections are made in one place, which keeps a connection that dies from ending the process. Without that, a pool whose
// database a test removes under it failed the whole run.

import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url).pathname;
const PG_POOL = /^import (?!type\b)\{[^}]*(?<!type )\bPool\b[^}]*\} from "pg";$/m;

async function filesWithPools(): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob("{src,test}/**/*.ts", { cwd: root })) {
    if (PG_POOL.test(await readFile(root + path, "utf8"))) found.push(path);
  }
  return found;
}

test("one file makes pools of connections", async () => {
  expect(await filesWithPools()).toEqual(["src/database/login-connections.ts"]);
});

test.each([
  ['import { Pool } from "pg";', true],
  ['import { Client, Pool, type PoolClient } from "pg";', true],
  ['import type { Pool } from "pg";', false],
  ['import { Client, type Pool } from "pg";', false],
  ['import { Pool } from "undici";', false],
])("an import is recognised: %s", (text, isMade) => {
  expect(PG_POOL.test(text)).toBe(isMade);
});
