// Damage to the files of owed settlements: a line that cannot be read costs no other one, is never taken for a settlement, and is kept.

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serialize } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uuidv7 } from "../../kernel/ids.ts";
import type { Settlement } from "../ledger.ts";
import { startOf } from "./owed-process.ts";
import { listUnsettled, OwedSpool } from "./owed-spool.ts";

const HERE = { system: "1", timeline: 1, books: "5/1" };
/** No process has a number as high. */
const GONE = 2 ** 30;

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "saldo-owed-")), "owed");
});
afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

function settlement(cost: bigint): Settlement {
  return {
    accountId: uuidv7(),
    requestId: uuidv7(),
    cost,
    inputTokensUncached: 1,
    inputTokensCached: 0,
    outputTokens: 1,
    basis: "exact",
    billingDay: "2026-11-27",
    upstream: null,
    upstreamModel: null,
    upstreamRequestId: null,
    upstreamCost: null,
    streamed: false,
    durationMs: 1.5,
    firstByteMs: null,
    clamped: false,
    delivered: true,
  };
}

/** Stores settlements of these costs, each with a write of its own, as a process that has ended. Returns its file. */
async function leave(costs: readonly bigint[]): Promise<string> {
  const spool = new OwedSpool(folder, GONE);
  for (const cost of costs) {
    spool.add(settlement(cost), HERE);
    await spool.flush();
  }
  const [name = ""] = await readdir(folder);
  return join(folder, name);
}

async function takeOver() {
  const { taken, ...left } = await new OwedSpool(folder, GONE + 1).takeOver(HERE);
  return { costs: taken.map(({ cost }) => cost), ...left };
}

/** The byte of the line feed of a line, counted from 0. */
function feedOf(bytes: Buffer, line: number): number {
  let at = -1;
  for (let each = 0; each <= line; each += 1) at = bytes.indexOf("\n", at + 1);
  return at;
}

/** The text between two line feeds, decoded, with one bit of the cost another one. */
function withOtherCost(line: string): string {
  const bytes = Buffer.from(line.slice(9), "base64");
  const at = bytes.indexOf(Buffer.from([0xe8, 0x03])) + 2;
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  return line.slice(0, 9) + bytes.toString("base64");
}

describe("a damaged file of owed settlements", () => {
  it.each<[string, (text: string) => string]>([
    ["has characters in a line that do not belong there", (text) => text.replace(/(\n.{60}).{4}/, "$1!!!!")],
    [
      "has a line with a cost of another bit",
      (text) => text.replace(/\n(.+)\n/, (_all, line) => `\n${withOtherCost(line)}\n`),
    ],
    ["has a line with another checksum", (text) => text.replace(/\n./, "\n-")],
    [
      "has a line that a torn write has cut, and the next one behind it",
      (text) => text.replace(/(\n.{100})[^\n]*\n/, "$1"),
    ],
  ])("%s: the others are taken over, and the file is kept and listed", async (_what, damage) => {
    const path = await leave([500n, 1_000n, 3_000n]);
    const text = damage(await readFile(path, "utf8"));
    await writeFile(path, text);
    expect((await listUnsettled(folder, HERE)).damaged).toEqual([{ path, lines: 1 }]);
    expect(await takeOver()).toEqual({ costs: [500n, 3_000n], foreign: 0, damaged: 1 });
    expect(await readFile(`${path}.damaged`, "utf8")).toBe(text);
    expect((await listUnsettled(folder, HERE)).damaged).toEqual([{ path: `${path}.damaged`, lines: 1 }]);
    const next = new OwedSpool(folder, GONE + 1);
    await next.retry();
    expect(next.statistics).toEqual({ failedWrites: 0, damagedFiles: 1 });
  });

  it.each(["J", "*", "\u0002"])("loses nothing to a line feed that is %j", async (other) => {
    const path = await leave([500n, 1_000n, 3_000n]);
    const bytes = await readFile(path);
    bytes.write(other, feedOf(bytes, 0));
    await writeFile(path, bytes);
    expect(await takeOver()).toEqual({ costs: [500n, 1_000n, 3_000n], foreign: 0, damaged: 0 });
  });

  it("survives each bit that falls over: no entry is lost beside the damaged one, and none has another cost", async () => {
    const path = await leave([500n, 1_000n, 3_000n]);
    const whole = await readFile(path);
    const begin = feedOf(whole, 0) + 1;
    const end = feedOf(whole, 1);
    for (let at = begin; at < end; at += 1) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(path, bytes);
      const { foreign, damaged } = await listUnsettled(folder, { ...HERE, timeline: 2 });
      const costs = foreign.map(({ settlement: { cost } }) => cost);
      expect([costs.at(0), costs.at(-1), costs.length]).toEqual([500n, 3_000n, 2]);
      expect(damaged[0]?.lines).toBeGreaterThanOrEqual(1);
    }
  });
});

describe("files of owed settlements of earlier versions", () => {
  const bare = (value: unknown) => `${serialize(value).toString("base64")}\n`;

  it("are read without checksums, and their entries of another history get some", async () => {
    const [own, other] = [settlement(700n), settlement(900n)];
    await mkdir(folder);
    const old = `owed-${GONE}-${Date.now()}`;
    const text = bare({ settlement: own, history: HERE }) + bare(other);
    await writeFile(join(folder, old), text);
    expect(await takeOver()).toEqual({ costs: [700n], foreign: 1, damaged: 0 });
    expect(await readdir(folder)).toContain(`${old}-0.log`);
    expect((await listUnsettled(folder, HERE)).foreign).toEqual([{ settlement: other, history: null }]);
  });

  it("have a torn line before a whole one", async () => {
    const entry = { settlement: settlement(700n), history: HERE };
    await mkdir(folder);
    await writeFile(join(folder, `owed-${GONE}-${Date.now()}`), bare(entry).slice(0, 100) + bare(entry));
    expect(await takeOver()).toEqual({ costs: [700n], foreign: 0, damaged: 1 });
  });
});

describe("a write of owed settlements that fails", () => {
  it("is counted, reported, and repeated with all that came since", async () => {
    await writeFile(folder, "a file in the way");
    const failures: unknown[] = [];
    const spool = new OwedSpool(folder, GONE, (error) => failures.push(error));
    spool.add(settlement(500n), HERE);
    await expect(spool.flush()).rejects.toThrow(/EEXIST|ENOTDIR/);
    spool.add(settlement(1_000n), HERE);
    await spool.retry();
    expect(spool.statistics.failedWrites).toBe(failures.length);
    expect(failures.length).toBeGreaterThanOrEqual(2);
    await rm(folder);
    await spool.retry();
    expect(await takeOver()).toEqual({ costs: [500n, 1_000n], foreign: 0, damaged: 0 });
  });

  it("leaves nothing behind which the next line is appended", async () => {
    const spool = new OwedSpool(folder, GONE);
    spool.add(settlement(500n), HERE);
    await spool.flush();
    const [name = ""] = await readdir(folder);
    const path = join(folder, name);
    const whole = await readFile(path, "utf8");
    await writeFile(path, whole + whole.slice(0, 100));
    spool.add(settlement(1_000n), HERE);
    await spool.flush();
    expect(await takeOver()).toEqual({ costs: [500n, 1_000n], foreign: 0, damaged: 0 });
  });

  it("leaves the file of an ended process where it is", async () => {
    const path = await leave([500n]);
    const heir = new OwedSpool(join(folder, "..", "owed"), GONE + 1);
    const whole = await readFile(path);
    // The heir's own file cannot be written: a folder has its name.
    const [, own] = /(owed-\d+-\d+-\d+\.log)/.exec(heir.path) ?? [];
    await mkdir(join(folder, own ?? ""));
    const { taken } = await heir.takeOver(HERE);
    expect(taken.map(({ cost }) => cost)).toEqual([500n]);
    expect(await readFile(path)).toEqual(whole);
    expect(heir.statistics.failedWrites).toBeGreaterThanOrEqual(1);
  });
});

it("takes over the file of a process whose number another program has", async () => {
  const spool = new OwedSpool(folder, process.ppid);
  spool.add(settlement(500n), HERE);
  await spool.flush();
  expect(await takeOver()).toMatchObject({ costs: [] });
  const [name = ""] = await readdir(folder);
  const start = startOf(process.ppid);
  const text = await readFile(join(folder, name));
  await rm(join(folder, name));
  await writeFile(join(folder, name.replace(`-${start}.log`, `-${Number(start) + 1}.log`)), text);
  expect(await takeOver()).toMatchObject({ costs: process.platform === "linux" ? [500n] : [] });
});
