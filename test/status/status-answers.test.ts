// The public status as monitors read it: one computation however many ask, tags, and no look-up of a caller's credentials.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStatusService } from "../../src/status/service.ts";
import type { Status } from "../../src/status/status.ts";
import { type Running, startServers } from "../transport/fakes.ts";

const BEGAN = new Date("2026-11-26T03:00:00Z");
const statusAt = (second: number, isDown = false): Status => ({
  state: isDown ? "down" : "operational",
  asOf: new Date(BEGAN.getTime() + second * 1_000),
  isComplete: true,
  components: [
    { kind: "gateway", name: "", state: isDown ? "down" : "operational", since: isDown ? BEGAN : null, incidents: [] },
    {
      kind: "upstream",
      name: "Acme",
      state: "operational",
      since: BEGAN,
      incidents: [{ state: "degraded", beganAt: BEGAN, endedAt: BEGAN }],
    },
  ],
});

describe("GET /status.json", () => {
  let [now, mayServe] = [statusAt(0), true];
  let running: Running;
  const lookups: string[] = [];
  const note = async (secret: string) => (lookups.push(secret), null);
  beforeAll(async () => {
    running = await startServers({
      implementations: { status: createStatusService({ current: async () => now }) },
      people: { verifySession: note, accountExists: async () => false },
      verifyServiceToken: note,
      mayServe: () => mayServe,
    });
  });
  afterAll(() => running.servers.close(0));

  const get = (headers: Record<string, string> = {}) => fetch(`${running.http}/status.json`, { headers });

  it("has the documented shape, and may be kept by caches for fifteen seconds", async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=15");
    expect(answer.headers.get("vary")).toBe("origin");
    const began = BEGAN.toISOString().replace(".000", "");
    expect(await answer.json()).toEqual({
      state: "operational",
      as_of: began,
      complete: true,
      components: [
        { kind: "gateway", name: "", state: "operational", incidents: [] },
        {
          kind: "upstream",
          name: "Acme",
          state: "operational",
          since: began,
          incidents: [{ state: "degraded", began_at: began, ended_at: began }],
        },
      ],
    });
  });

  it("answers 304 to the tag of what has not changed, whenever it was computed", async () => {
    const tag = (await get()).headers.get("etag") ?? "";
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
    now = statusAt(30);
    for (const known of [tag, tag.replace("W/", ""), `"other", ${tag}`, "*"]) {
      const answer = await get({ "if-none-match": known });
      expect([known, answer.status, answer.headers.get("etag"), await answer.text()]).toEqual([known, 304, tag, ""]);
    }
    now = statusAt(60, true);
    const changed = await get({ "if-none-match": tag });
    expect([changed.status, changed.headers.get("etag") === tag]).toEqual([200, false]);
  });

  it("looks up no credentials, so that it needs no database", async () => {
    const headers = { cookie: "__Host-saldo=unknown", authorization: "Bearer st_unknown" };
    expect((await get({ cookie: headers.cookie })).status).toBe(200);
    expect((await get(headers)).status).toBe(200);
    expect(lookups).toEqual([]);
  });

  it("answers while nothing else is served", async () => {
    mayServe = false;
    try {
      expect((await get()).status).toBe(200);
      expect((await fetch(`${running.http}/v1/models`)).status).toBe(503);
    } finally {
      mayServe = true;
    }
  });
});
