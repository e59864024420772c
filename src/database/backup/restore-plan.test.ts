import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { historyFolder, sealedFile, writeSealed } from "./backup-folder.ts";
import { planRestore } from "./restore-plan.ts";
import { backupKeys } from "./sealed-file.ts";
import { madeLine } from "./timelines.ts";
import { formatLsn, SEGMENT_BYTES, segmentName } from "./wal-position.ts";

const SYSTEM = "7000";
const keys = backupKeys(["a key of a test that is long enough for what it encrypts"]);
const SECOND_MADE = new Date("2026-11-20T10:00:00Z");
const at = (segment: number, bytes = 0) => BigInt(segment * SEGMENT_BYTES + bytes);

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "saldo-plan-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(timeline: number, parts: readonly string[], bytes: Buffer, path?: string): Promise<void> {
  const file = sealedFile(root, historyFolder({ system: SYSTEM, timeline }), ...parts);
  await mkdir(dirname(file.path), { recursive: true });
  await writeSealed({ ...file, path: path ?? file.path }, keys, bytes);
}

/** A base backup that ends in a segment. */
async function base(timeline: number, { until, segment }: { until: string; segment: number }): Promise<string> {
  const name = `base-${until.replace(/[-:.]/g, "")}`;
  const lsns = { startLsn: formatLsn(at(segment)), endLsn: formatLsn(at(segment, 500)) };
  const facts = { format: 1, saldo: "1", postgres: "18", system: SYSTEM, timeline, ...lsns, until, endedAt: until };
  await put(timeline, [name, "about"], Buffer.from(JSON.stringify(facts)));
  for (const part of ["base.tar", "manifest"]) await put(timeline, [name, part], Buffer.from(part));
  return `${SYSTEM}-${timeline}/${name}`;
}

/** Segments that were received; of the last one so many bytes. */
async function log(timeline: number, segments: readonly number[], lastBytes: number): Promise<void> {
  for (const [index, segment] of segments.entries()) {
    const name = segmentName(timeline, at(segment));
    const isLast = index === segments.length - 1;
    const { path } = sealedFile(root, historyFolder({ system: SYSTEM, timeline }), "wal", `${name}.open`);
    await put(timeline, ["wal", name], Buffer.alloc(isLast ? lastBytes : 1), isLast ? path : undefined);
  }
}

/** Timeline 2, which left the first one in its segment 4. */
async function second(madeAt: Date | null = SECOND_MADE): Promise<void> {
  const line = `1\t${formatLsn(at(4, 1_000))}\tno recovery target specified\n`;
  await put(2, ["history"], Buffer.from(`${line}${madeAt === null ? "" : madeLine(2, madeAt)}`));
}

const plan = (wanted: { until?: string; timeline?: number } = {}) => {
  const moment = wanted.until === undefined ? null : new Date(wanted.until);
  return planRestore({ root, keys, until: moment, timeline: wanted.timeline ?? null });
};

it("follows the newest timeline whose log was received, from a base backup of the one before", async () => {
  const name = await base(1, { until: "2026-11-20T08:00:00.000Z", segment: 2 });
  await log(1, [3, 4], 5_000);
  await second();
  expect(await plan()).toMatchObject({ timeline: 1, notFollowed: [] });
  await log(2, [4], 1_000);
  expect(await plan()).toMatchObject({ timeline: 1 });
  await log(2, [4, 5], 10);
  const { backup, timeline, files } = await plan();
  expect({ timeline, name: backup.name }).toEqual({ timeline: 2, name });
  expect([...files.segments.keys()]).toEqual([segmentName(1, at(3)), segmentName(2, at(4)), segmentName(2, at(5))]);
  expect(await plan({ timeline: 1 })).toMatchObject({ timeline: 1, notFollowed: [`${SYSTEM}-2`] });
});

it("takes no base backup from behind the position at which the timeline left its parent", async () => {
  const early = await base(1, { until: "2026-11-20T08:00:00.000Z", segment: 2 });
  const late = await base(1, { until: "2026-11-20T09:00:00.000Z", segment: 6 });
  await log(1, [3, 4, 5, 6, 7], 5_000);
  await second();
  expect((await plan()).backup.name).toBe(late);
  await log(2, [4, 5], 10);
  expect((await plan()).backup.name).toBe(early);
  await rm(join(root, early), { recursive: true });
  await expect(plan()).rejects.toThrow(`No base backup leads to the timeline ${SYSTEM}-2.`);
  expect(await plan({ timeline: 1 })).toMatchObject({ backup: { name: late } });
});

it("follows the timeline that was there at the moment", async () => {
  await base(1, { until: "2026-11-20T08:00:00.000Z", segment: 2 });
  await log(1, [3, 4, 5], 5_000);
  await second();
  await log(2, [4, 5], 10);
  expect(await plan({ until: "2026-11-20T09:59:59Z" })).toMatchObject({ timeline: 1 });
  expect(await plan({ until: "2026-11-20T10:00:01Z" })).toMatchObject({ timeline: 2 });
  await expect(plan({ until: "2026-11-20T07:00:00Z" })).rejects.toThrow("The oldest backup in");
});

it("refuses a log with a hole, or without the history of its timeline", async () => {
  await base(1, { until: "2026-11-20T08:00:00.000Z", segment: 2 });
  await log(1, [3, 4], 5_000);
  await log(2, [4, 5], 10);
  await expect(plan()).rejects.toThrow(`The history of the timeline ${SYSTEM}-2 cannot be read.`);
  await expect(plan({ timeline: 3 })).rejects.toThrow(`The history of the timeline ${SYSTEM}-3 is missing.`);
  await second();
  await rm(sealedFile(root, `${SYSTEM}-2`, "wal", segmentName(2, at(4))).path);
  const hole = segmentName(2, at(4));
  await expect(plan()).rejects.toThrow(`The segment ${hole} of the log is missing`);
  expect(await plan({ until: "2026-11-20T11:00:00Z" })).toMatchObject({ hole });
});
