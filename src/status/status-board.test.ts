import { describe, expect, it } from "vitest";
import { StatusBoard, type PayingWallet, type StatusSources } from "./status-board.ts";

const NOW = Date.UTC(2026, 10, 26, 3);
const PAYS: PayingWallet = { stoppedAt: null, oldestPayoutSeconds: 0 };

/** A board with its clock, and how often it has read. */
function boardOf(sources: Partial<StatusSources> = {}, settings: { readWithinMs?: number } = {}) {
  let [nowMs, reads] = [NOW, 0];
  const clock = { now: () => nowMs };
  const unread: unknown[] = [];
  const board = new StatusBoard({
    sources: {
      stoppedSince: async () => ((reads += 1), null),
      mayServe: () => true,
      upstreams: async () => new Map([["Acme", []]]),
      topUps: async () => ({ asked: 3, failing: 0 }),
      wallets: async () => [PAYS],
      ...sources,
    },
    ...settings,
    clock,
    monotonicClock: clock,
    onUnread: (error) => unread.push(error),
  });
  return { board, unread, reads: () => reads, advance: (seconds: number) => (nowMs += seconds * 1_000) };
}

/** The states by kind. */
async function statesOf(sources: Partial<StatusSources>) {
  const { state, components } = await boardOf(sources).board.current();
  return { whole: state, ...Object.fromEntries(components.map((each) => [each.kind, each.state])) };
}

const ALL_WELL = {
  whole: "operational",
  gateway: "operational",
  upstream: "operational",
  top_ups: "operational",
  transfers: "operational",
};

describe("the board of the status", () => {
  it("reads once for everyone who asks within fifteen seconds", async () => {
    const { board, reads, advance } = boardOf();
    const answers = await Promise.all(Array.from({ length: 500 }, () => board.current()));
    advance(14.9);
    answers.push(await board.current());
    expect(new Set(answers).size).toBe(1);
    expect(reads()).toBe(1);
    advance(0.2);
    expect((await board.current()).asOf).toEqual(new Date(NOW + 15_100));
    expect(reads()).toBe(2);
  });

  it("shows an operators' stop as the gateway being down since then", async () => {
    expect(await statesOf({})).toEqual(ALL_WELL);
    const since = new Date(NOW - 60_000);
    const stopped = await boardOf({ stoppedSince: async () => since }).board.current();
    expect(stopped).toMatchObject({
      state: "down",
      components: [{ kind: "gateway", state: "down", since }, {}, {}, {}],
    });
    expect(await statesOf({ mayServe: () => false })).toEqual({ ...ALL_WELL, whole: "down", gateway: "down" });
  });

  it("takes a provider for down when it answers about none of several orders", async () => {
    const topUps = async (asked: number, failing: number) => statesOf({ topUps: async () => ({ asked, failing }) });
    expect(await topUps(0, 0)).toEqual(ALL_WELL);
    expect(await topUps(1, 1)).toEqual({ ...ALL_WELL, whole: "degraded", top_ups: "degraded" });
    expect(await topUps(3, 2)).toEqual({ ...ALL_WELL, whole: "degraded", top_ups: "degraded" });
    expect(await topUps(2, 2)).toEqual({ ...ALL_WELL, whole: "degraded", top_ups: "down" });
    expect(Object.keys(await statesOf({ topUps: null }))).not.toContain("top_ups");
  });

  it("takes transfers for down when no wallet pays, and for degraded when one does not or takes long", async () => {
    const stopped = (secondsAgo: number) => ({ ...PAYS, stoppedAt: new Date(NOW - secondsAgo * 1_000) });
    const transfers = async (...wallets: PayingWallet[]) =>
      (await boardOf({ wallets: async () => wallets }).board.current()).components.find(
        ({ kind }) => kind === "transfers",
      );
    expect(await transfers(stopped(60), stopped(30))).toMatchObject({ state: "down", since: new Date(NOW - 30_000) });
    expect(await transfers(stopped(60), PAYS)).toMatchObject({ state: "degraded", since: new Date(NOW - 60_000) });
    expect(await transfers({ ...PAYS, oldestPayoutSeconds: 1_800 })).toMatchObject({ state: "operational" });
    expect(await transfers({ ...PAYS, oldestPayoutSeconds: 1_900 })).toMatchObject({
      state: "degraded",
      since: new Date(NOW - 100_000),
    });
    expect(await transfers()).toBeUndefined();
  });

  it("answers without records, with the upstreams that it knew, and reads again after three seconds", async () => {
    const away = new Error("connection refused at db.internal");
    let isAway = false;
    const { board, unread, advance } = boardOf({
      stoppedSince: async () => {
        if (isAway) throw away;
        return null;
      },
    });
    await board.current();
    isAway = true;
    advance(16);
    const first = await board.current();
    expect(first).toEqual({
      state: "down",
      asOf: new Date(NOW + 16_000),
      isComplete: false,
      components: [
        { kind: "gateway", name: "", state: "down", since: new Date(NOW + 16_000), incidents: [] },
        { kind: "upstream", name: "Acme", state: "unknown", since: null, incidents: [] },
        { kind: "top_ups", name: "", state: "down", since: new Date(NOW + 16_000), incidents: [] },
        { kind: "transfers", name: "", state: "down", since: new Date(NOW + 16_000), incidents: [] },
      ],
    });
    expect(unread).toEqual([away]);
    advance(4);
    expect((await board.current()).components[0]).toMatchObject({ since: new Date(NOW + 16_000) });
    isAway = false;
    advance(4);
    expect(await board.current()).toMatchObject({ state: "operational", isComplete: true });
  });

  it("does not wait for records that hang, and reads nothing beside a read that runs", async () => {
    const hung = Promise.withResolvers<null>();
    let reads = 0;
    const { board, advance } = boardOf({ stoppedSince: () => ((reads += 1), hung.promise) }, { readWithinMs: 20 });
    expect(await board.current()).toMatchObject({ state: "down", isComplete: false });
    advance(4);
    expect(await board.current()).toMatchObject({ isComplete: false });
    expect(reads).toBe(1);
    hung.resolve(null);
    advance(4);
    expect(await board.current()).toMatchObject({ state: "operational", isComplete: true });
  });
});
