import type * as FileSystem from "node:fs/promises";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { withAgentLock } from "../../src/agents/files/agent-lock.ts";

// A file system whose removals take longer or shorter, as when runs are put off between two steps.
let removals = 0;
vi.mock("node:fs/promises", async (load) => {
  const real = await load<typeof FileSystem>();
  const rmLater: typeof real.rm = async (...given) => {
    removals += 1;
    await setTimeout((removals % 4) * 6);
    return real.rm(...given);
  };
  return { ...real, rm: rmLater };
});

/** No process has it: numbers end below on every system. */
const GONE = "2147483646";
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-lock-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs that come at once. Gives how many were in it together at most. */
async function together(runs: number): Promise<number> {
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: runs }, () =>
      withAgentLock(join(folder, "state"), "codex", async () => {
        inside += 1;
        most = Math.max(most, inside);
        await setTimeout(30);
        inside -= 1;
      }),
    ),
  );
  return most;
}

test("runs that find the lock of a dead one enter one by one", async () => {
  const state = join(folder, "state");
  for (let round = 0; round < 3; round += 1) {
    await withAgentLock(state, "other", async () => {
      await writeFile(join(state, "lock-codex"), GONE);
      expect(await together(10)).toBe(1);
    });
  }
});

test("runs without a lock before them enter one by one", async () => {
  expect(await together(5)).toBe(1);
});

test("a lock that a dead run was taking over keeps no other run out", async () => {
  await withAgentLock(join(folder, "state"), "other", async () => {
    await writeFile(join(folder, "state", "lock-codex"), GONE);
    await writeFile(join(folder, "state", "lock-codex.takeover"), GONE);
    expect(await together(2)).toBe(1);
  });
});
