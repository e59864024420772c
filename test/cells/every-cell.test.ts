// Commands that are carried out in every cell: with one left out, requests would go on there, or the next start would fail.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { signingSecret } from "../../src/identity/signing-secret.ts";
import { useSecretsKeys } from "../../src/kernel/sealed-text.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { PRODUCTION } from "../setup/saldo-process.ts";
import { type TwoCells, twoCells } from "./two-cells.ts";

const [FORMER, NEWER] = ["former ".repeat(6).trim(), "newer ".repeat(6).trim()];

let cells: TwoCells;
let started: SaldoHere | null = null;
const settings = (keys: string): Readonly<Record<string, string>> => ({ ...cells.settings, SALDO_SECRETS_KEY: keys });
const start = async (keys: string, more: Readonly<Record<string, string>> = {}): Promise<void> => {
  started = await SaldoHere.start({ ...settings(keys), ...more });
};
const stop = async (): Promise<void> => {
  await started?.stop();
  started = null;
};
const pools = () => [cells.home.database.pool, cells.two.database.pool];

beforeAll(async () => {
  cells = await twoCells();
  await start(FORMER);
  await stop();
});
afterEach(stop);
afterAll(async () => {
  useSecretsKeys([]);
  await cells.close();
});

describe("secrets rotate", () => {
  it("changes the key of no cell while one of them is away", async () => {
    cells.links.two.cutAll({ refuse: true });
    try {
      const outcome = await runSaldo(["secrets", "rotate"], settings(`${NEWER},${FORMER}`));
      expect(outcome).toMatchObject({ code: 1, stdout: "" });
      expect(outcome.stderr).toContain("Nothing was done, because the cell two cannot be opened");
    } finally {
      cells.links.two.isAway = false;
    }
    await start(FORMER);
  });

  it("changes the key of every cell, so that all start without the former one", async () => {
    useSecretsKeys([FORMER]);
    const secrets = await Promise.all(pools().map((pool) => signingSecret(pool, [])));
    const rotated = await saldoJson(["secrets", "rotate"], settings(`${NEWER},${FORMER}`));
    expect(rotated).toMatchObject({ form: "envelope", unreadable: [], left: 0 });
    expect(rotated["cells"]).toMatchObject([{ cell: "home" }, { cell: "two" }]);
    await start(NEWER);
    expect((await fetch(`${started?.httpUrl}/readyz`)).status).toBe(200);
    useSecretsKeys([NEWER]);
    expect(await Promise.all(pools().map((pool) => signingSecret(pool, [])))).toEqual(secrets);
    await stop();
    // One cell alone can be named, and then the others keep their key.
    await saldoJson(["secrets", "rotate", "--cell", "two"], settings(`${FORMER},${NEWER}`));
    await expect(start(NEWER)).rejects.toThrow("SALDO_SECRETS_KEY");
    await saldoJson(["secrets", "rotate"], settings(`${FORMER},${NEWER}`));
    await start(FORMER);
  });
});

describe("admission", () => {
  const stopped = async () =>
    ((await saldoJson(["admission", "status"], settings(FORMER)))["cells"] as unknown as { stopped: boolean }[]).map(
      (cell) => cell.stopped,
    );

  it("is stopped and started in every cell, or in the one that is named", async () => {
    await saldoJson(["admission", "stop", "--reason", "test"], settings(FORMER));
    expect(await stopped()).toEqual([true, true]);
    await saldoJson(["admission", "start", "--cell", "two"], settings(FORMER));
    expect(await stopped()).toEqual([true, false]);
    await saldoJson(["admission", "start"], settings(FORMER));
    expect(await stopped()).toEqual([false, false]);
  });

  it("is stopped where it can be while a cell is away, and the command fails with its name", async () => {
    cells.links.two.cutAll({ refuse: true });
    try {
      const outcome = await runSaldo(["admission", "stop", "--reason", "test", "--json"], settings(FORMER));
      expect(outcome.code).toBe(1);
      const shown = JSON.parse(outcome.stdout) as { stopped: boolean; cells: object[] };
      expect(shown).toMatchObject({ stopped: true, cells: [{ cell: "home", stopped: true }, { cell: "two" }] });
      expect(shown.cells[1]).toHaveProperty("error");
    } finally {
      cells.links.two.isAway = false;
    }
    await saldoJson(["admission", "start"], settings(FORMER));
  });
});

it("migrates every cell, also one that no start has served yet", async () => {
  expect(await saldoJson(["migrate"], settings(FORMER))).toMatchObject({
    ok: true,
    cells: [{ cell: "home" }, { cell: "two" }],
  });
  await cells.two.database.pool.query("UPDATE database_purpose SET cell = 'other'");
  const outcome = await runSaldo(["migrate"], settings(FORMER));
  expect([outcome.code, outcome.stdout]).toEqual([1, expect.stringContaining("is the cell other")]);
  await cells.two.database.pool.query("UPDATE database_purpose SET cell = 'two'");
});

it("clears the demo of every cell, so that production starts on all of them", async () => {
  const away = { SALDO_DEMO: "0", ...PRODUCTION, SALDO_SECRETS_KEY: FORMER };
  await expect(start(FORMER, away)).rejects.toThrow("This database is a demo's");
  const clear = await saldoJson(["demo", "clear"], settings(FORMER));
  expect(clear).toMatchObject({ cells: [{ cell: "home" }, { cell: "two" }] });
  const purposes = pools().map(async (pool) => (await pool.query("SELECT purpose FROM database_purpose")).rows);
  expect(await Promise.all(purposes)).toEqual([[{ purpose: "production" }], [{ purpose: "production" }]]);
});
