// Two verifiers, ours and the script of the docs, which has nothing but Node: both accept every right statement and refuse every wrong
// one. SALDO_LONG_TESTS=1: ten thousand histories.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileLines } from "../../src/billing/proof/file-lines.ts";
import { proofKey } from "../../src/billing/proof/signing.ts";
import type { LineRow } from "../../src/billing/proof/line.ts";
import { verifyStatement } from "../../src/billing/proof/verify.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { randomStatement } from "./proof-histories.ts";
import { seededRandom } from "./random.ts";

const SCRIPT = new URL("../../src/dashboard/public/verify-statement.mjs", import.meta.url).href;
const RUNNER = fileURLToPath(new URL("many-statements.mjs", import.meta.url));
const HISTORIES = IS_LONG ? 10_000 : 200;
const FLIPS = IS_LONG ? 5_000 : 400;
const KEY = proofKey("a secret of a test that signs the roots of its books");

describe("the verifiers of statements", () => {
  const random = seededRandom(21);
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "saldo-statements-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const ours = async (bytes: Buffer) => verifyStatement(fileLines(streamOf(bytes)));
  async function byScript(files: ReadonlyMap<string, Buffer>): Promise<Record<string, boolean>> {
    const within = await mkdtemp(join(folder, "files-"));
    await Promise.all([...files].map(([name, bytes]) => writeFile(join(within, name), bytes)));
    const { stdout } = await promisify(execFile)(process.execPath, [RUNNER, SCRIPT, within], { maxBuffer: 64_000_000 });
    return JSON.parse(stdout) as Record<string, boolean>;
  }
  const fileOf = (): Buffer =>
    Buffer.from(
      randomStatement(random, KEY)
        .map((line) => `${line}\n`)
        .join(""),
    );

  it(`accept ${HISTORIES} random histories`, async () => {
    const files = new Map(Array.from({ length: HISTORIES }, (_, at) => [`${at}.jsonl`, fileOf()]));
    const wrong = [];
    for (const [name, bytes] of files) if (!(await ours(bytes)).ok) wrong.push([name, (await ours(bytes)).problems]);
    expect(wrong).toEqual([]);
    const results = await byScript(files);
    expect(Object.keys(results)).toHaveLength(HISTORIES);
    expect(Object.values(results)).not.toContain(false);
  });

  it("refuse a statement with any flipped bit", async () => {
    const files = new Map<string, Buffer>();
    for (let at = 0; at < FLIPS; at += 1) {
      const bytes = fileOf();
      const place = Math.floor(random() * bytes.length);
      bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(random() * 8));
      files.set(`${at}-${place}.jsonl`, bytes);
    }
    const accepted = [];
    for (const [name, bytes] of files) if ((await ours(bytes)).ok) accepted.push(name);
    expect(accepted).toEqual([]);
    expect(Object.entries(await byScript(files)).filter(([, isRight]) => isRight)).toEqual([]);
  });

  it("refuse a line whose cost is not that of its tokens, in a chain that is right", async () => {
    const files = new Map<string, Buffer>();
    const bytesOf = (raised: (row: LineRow) => LineRow): Buffer =>
      Buffer.from(
        randomStatement(random, KEY, raised)
          .map((line) => `${line}\n`)
          .join(""),
      );
    const more = (text: string | null): string => String(BigInt(text ?? 0) + 1n);
    for (let at = 0; at < 20; at += 1)
      files.set(
        `${at}.jsonl`,
        bytesOf((row) => (row.kind === "usage" ? { ...row, cost: more(row.cost) } : row)),
      );
    for (const [name, bytes] of files)
      expect(
        (await ours(bytes)).problems.every((problem) => problem.includes("but its tokens come to")),
        name,
      ).toBe(true);
    const hasUsage = [...files].filter(([, bytes]) => bytes.includes('"type":"usage"'));
    expect(hasUsage.length).toBeGreaterThan(10);
    for (const [name, bytes] of hasUsage) expect((await ours(bytes)).ok, name).toBe(false);
    const results = await byScript(new Map(hasUsage));
    expect(Object.values(results)).not.toContain(true);
  });

  it("refuse what proves nothing", async () => {
    const lines = randomStatement(random, KEY);
    const { account } = JSON.parse(lines[0] ?? "") as { account: string };
    const { root } = JSON.parse(lines.at(-1) ?? "") as { root: unknown };
    const header = { type: "statement", version: 1, account, opening: null };
    const nothing = { type: "proof", leaf: null, path: [], root };
    const files = new Map(
      Object.entries({
        empty: [header, nothing],
        "behind an opening without a leaf": [{ ...header, opening: { leaf: null, path: [], root } }, nothing],
        "with another balance in its header": [
          { ...header, balance: "9" },
          ...lines.slice(1).map((line) => JSON.parse(line) as object),
        ],
      }).map(([name, each]) => [name, Buffer.from(each.map((line) => `${JSON.stringify(line)}\n`).join(""))]),
    );
    for (const [name, bytes] of files) expect((await ours(bytes)).ok, name).toBe(false);
    expect(Object.entries(await byScript(files)).filter(([, isRight]) => isRight)).toEqual([]);
  });

  it("refuse a statement without one of its lines, with one twice, or with two exchanged", async () => {
    const files = new Map<string, Buffer>();
    const lines = randomStatement(random, KEY);
    const add = (name: string, changed: readonly string[]) =>
      files.set(name, Buffer.from(changed.map((line) => `${line}\n`).join("")));
    for (const at of lines.keys()) {
      add(`without-${at}`, lines.toSpliced(at, 1));
      add(`twice-${at}`, lines.toSpliced(at, 0, lines[at] ?? ""));
      if (at > 0) add(`exchanged-${at}`, lines.toSpliced(at - 1, 2, lines[at] ?? "", lines[at - 1] ?? ""));
    }
    for (const [name, bytes] of files) expect((await ours(bytes)).ok, name).toBe(false);
    expect(Object.entries(await byScript(files)).filter(([, isRight]) => isRight)).toEqual([]);
  });
});

async function* streamOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield await Promise.resolve(bytes);
}
