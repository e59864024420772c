// Two nodes on two cells, one of which is away for a while: its accounts wait, and no other is concerned.

import { Code, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { chat, newCustomer } from "../app/customer.ts";
import { HELLO } from "../app/rolling-load.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { askAll, callsOf, customerInTwo, type TwoCells, twoCells } from "./two-cells.ts";

let cells: TwoCells;
const nodes: SaldoHere[] = [];
const node = (index: number): SaldoHere => {
  const found = nodes[index % 2];
  if (found === undefined) throw new Error("two nodes run");
  return found;
};
const atHome = () => ({ ...cells.settings, SALDO_NEW_ACCOUNTS_IN: "home" });

beforeAll(async () => {
  cells = await twoCells();
  nodes.push(...(await Promise.all([SaldoHere.start(cells.settings), SaldoHere.start(cells.settings)])));
});
afterAll(async () => {
  await Promise.all(nodes.map((each) => each.stop()));
  await cells.close();
});

describe("a cell that is away", () => {
  const readyz = async (index: number): Promise<number> => (await fetch(`${node(index).httpUrl}/readyz`)).status;

  it("refuses its accounts with 503 and a time to wait, and no other is concerned; then it serves again", async () => {
    const two = await customerInTwo(cells, node(0), "10000");
    const home = await newCustomer(atHome(), { amount: "10000" });
    expect([(await askAll(nodes, two.key, 2))[0], (await askAll(nodes, home.key, 2))[0]]).toEqual([200, 200]);
    cells.links.two.cutAll({ refuse: true });
    try {
      const refused = await chat(node(0).httpUrl, two.key, HELLO);
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(new Set(await askAll(nodes, home.key, 20))).toEqual(new Set([200]));
      // A key that no node has seen is looked for in all cells, and found without the one that is away.
      const fresh = await newCustomer(atHome(), { amount: "10000" });
      expect(new Set(await askAll(nodes, fresh.key, 2))).toEqual(new Set([200]));
      const balance = createClient(BillingService, callsOf(node(0), two.person)).getBalance({});
      await expect(balance).rejects.toMatchObject({ code: Code.Unavailable });
      expect([await readyz(0), await readyz(1)]).toEqual([200, 200]);
    } finally {
      cells.links.two.isAway = false;
    }
    await expect.poll(async () => (await askAll(nodes, two.key, 2))[0], { timeout: 20_000 }).toBe(200);
    expect(await saldoJson(["audit", "--hurry", "--cell", "two"], cells.settings)).toMatchObject({ ok: true });
  });

  it("is no matter to the keys of another, even where it is the home of the people", async () => {
    const two = await customerInTwo(cells, node(0), "10000");
    cells.links.home.cutAll({ refuse: true });
    try {
      // One of the nodes has not seen the key.
      expect(new Set(await askAll(nodes, two.key, 20))).toEqual(new Set([200]));
      const balance = createClient(BillingService, callsOf(node(0), two.person)).getBalance({});
      await expect(balance).rejects.toMatchObject({ code: Code.Unavailable });
      expect(await readyz(0)).toBe(200);
    } finally {
      cells.links.home.isAway = false;
    }
    const waiting = createClient(BillingService, callsOf(node(0), two.person));
    const held = async () => (await waiting.getBalance({}).catch(() => null))?.balance?.held;
    await expect.poll(held, { timeout: 20_000 }).toBe("0");
  });

  it("is opened when it comes after the start, and counted until then", async () => {
    const two = await customerInTwo(cells, node(0), "10000");
    const home = await newCustomer(atHome(), { amount: "10000" });
    cells.links.two.cutAll({ refuse: true });
    const late = await SaldoHere.start(cells.settings);
    try {
      const scraped = async () => (await fetch(`${late.metricsUrl}/metrics`)).text();
      expect(await scraped()).toContain('saldo_cell_open{cell="two"} 0');
      expect((await chat(late.httpUrl, home.key, HELLO)).status).toBe(200);
      expect((await chat(late.httpUrl, two.key, HELLO)).status).toBe(503);
      cells.links.two.isAway = false;
      await expect.poll(async () => (await chat(late.httpUrl, two.key, HELLO)).status, { timeout: 20_000 }).toBe(200);
      const series = await scraped();
      expect(series).toContain('saldo_cell_open{cell="two"} 1');
      expect(series).toMatch(/^saldo_chat_requests_total\{outcome="answered",cell="two"\} 1$/m);
      expect(series).toMatch(/^saldo_chat_requests_total\{outcome="answered",cell="home"\} 1$/m);
    } finally {
      cells.links.two.isAway = false;
      await late.stop();
    }
  });
});
