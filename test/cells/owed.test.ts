// A node that is killed while settlements of another cell lie on its disk: the next one settles them there, once, and in no other cell.

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HELLO } from "../app/rolling-load.ts";
import { chat } from "../app/customer.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { customerInTwo, type TwoCells, twoCells } from "./two-cells.ts";

/** An answer of seconds, so that the cell is away before its end. */
const SLOW = { ...HELLO, stream: true, max_tokens: 40, messages: [{ role: "user", content: "Tell a long story." }] };
const PACE_MS = "40";

let cells: TwoCells;
let folder: string;
beforeAll(async () => {
  cells = await twoCells();
  folder = await mkdtemp(join(tmpdir(), "saldo-cells-"));
});
afterAll(async () => {
  await cells.close();
  await rm(folder, { recursive: true, force: true });
});
const owedIn = (...path: string[]): Promise<string[]> =>
  readdir(join(folder, ...path, "owed")).then(
    (names) => names.filter((name) => name.startsWith("owed-")),
    () => [],
  );

it("settles what a killed node owed in another cell, when that is back, and nothing in the home cell", async () => {
  const settings = { ...cells.settings, SALDO_DATA_DIR: folder, SALDO_DEMO_PACE_MS: PACE_MS };
  const killed = await SaldoProcess.start(settings);
  const { accountId, key } = await customerInTwo(cells, killed, "1000");
  const answer = await chat(killed.httpUrl, key, SLOW);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain("data:");
  cells.links.two.cutAll({ refuse: true });
  // The answer ends, and waits for its settlement: that is on the disk meanwhile.
  await expect.poll(() => owedIn("cells", "two"), { timeout: 60_000 }).toHaveLength(1);
  expect(await owedIn()).toEqual([]);
  await killed.stop("SIGKILL");

  const next = await SaldoHere.start(settings);
  try {
    // The cell is still away: nothing is lost by a start without it.
    expect(await owedIn("cells", "two")).toHaveLength(1);
    cells.links.two.isAway = false;
    const { pool } = cells.two.database;
    const billed = async () =>
      (await pool.query<{ charge: bigint }>("SELECT charge FROM usage_record WHERE account_id = $1", [accountId])).rows;
    await expect.poll(billed, { timeout: 30_000 }).toHaveLength(1);
    const [record] = await billed();
    const { rows } = await pool.query("SELECT posted, held FROM account WHERE id = $1", [accountId]);
    expect(rows).toEqual([{ posted: 1_000_000_000n - (record?.charge ?? 0n), held: 0n }]);
    expect(record?.charge).toBeGreaterThan(0n);
    await expect.poll(() => owedIn("cells", "two"), { timeout: 20_000 }).toEqual([]);
    expect((await cells.home.database.pool.query("SELECT FROM usage_record")).rowCount).toBe(0);
    expect(await saldoJson(["audit", "--hurry", "--cell", "two"], cells.settings)).toMatchObject({ ok: true });
  } finally {
    await next.stop();
  }
});
