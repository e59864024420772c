// Whatever strangers and customers send to a gateway, it lives on, does not grow, is not stalled, and answers who pays.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as attacks from "./hostile/attacks.ts";
import { GatewayUnderAttack } from "./hostile/gateway-under-attack.ts";

/** The goal on an idle machine. Tests share theirs, so a stall is printed from here on and refused from twenty times as much. */
const STALL_GOAL_MS = 250;
const STALL_LIMIT_MS = 20 * STALL_GOAL_MS;
/** Of each attack. */
const GROWTH_LIMIT_MIB = 200;
const REFUSED = [0, 400, 401, 403, 404, 405, 408, 411, 413, 414, 415, 421, 429, 431, 501, 503, 505];

describe("a gateway under attack", () => {
  let under: GatewayUnderAttack;
  beforeAll(async () => {
    under = await GatewayUnderAttack.start();
  });
  afterAll(() => under.close());

  /** Runs one attack, holds the gateway to its limits meanwhile, and gives what the attack came to. */
  async function withstand<Outcome>(name: string, attack: () => Promise<Outcome>): Promise<Outcome> {
    const { memoryMiB: memoryBefore } = await under.measure();
    const { outcome, paid } = await under.whilePaying(attack);
    expect(under.isAlive).toBe(true);
    const { longestStallMs, memoryMiB } = await under.measure();
    if (longestStallMs > STALL_GOAL_MS) process.stderr.write(`${name}: a stall of ${Math.round(longestStallMs)} ms\n`);
    expect(Object.keys(paid)).toEqual(["200"]);
    expect(longestStallMs).toBeLessThan(STALL_LIMIT_MS);
    expect(memoryMiB - memoryBefore).toBeLessThan(GROWTH_LIMIT_MIB);
    return outcome;
  }

  it.each([
    ["heads that are no request", (): Promise<number[]> => attacks.badHeads(under.gateway)],
    ["messages that grow when they are read", () => attacks.bombs(under.gateway, under.customer.key)],
    ["JSON that is deep, wide or never ends", () => attacks.badJson(under.gateway, under.customer.key)],
    ["sign-ins with hostile bodies", () => attacks.badSignIns(under.gateway)],
    ["bodies of strangers that never end", () => attacks.endlessBodies(under.gateway)],
  ])(
    "refuses %s",
    async (name, attack) => {
      const statuses = await withstand(name, attack);
      expect(statuses.length).toBeGreaterThan(0);
      expect(statuses.filter((status) => !REFUSED.includes(status))).toEqual([]);
    },
    60_000,
  );

  it("refuses authorities of which no URL can be made", async () => {
    expect(await withstand("authorities", () => attacks.badAuthorities(under.gateway))).toEqual([]);
  });

  it("ends connections that open streams only to reset them", async () => {
    expect(await withstand("resets", () => attacks.rapidResets(under.gateway))).toBe(4);
  }, 60_000);

  it("bears ten thousand silent streams", async () => {
    const attack = () => attacks.idleStreams(under.gateway, { total: 10_000, holdMs: 2_000 });
    const { held, ended } = await withstand("idle streams", attack);
    expect(held + ended).toBe(10_000);
  }, 60_000);
});
