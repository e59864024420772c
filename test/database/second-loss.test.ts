// A machine that is lost after its books were restored once: the books went on in another timeline, whose log is in the same folder.

import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { makeDataDir, postmasterPid, removeDataDir, until } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { onServer } from "../setup/test-servers.ts";

const KEY = /gw_[A-Za-z0-9]{49}/;
const HELLO = JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Hello!" }] });
const SECRET = { SALDO_BACKUP_KEY: "a key of a test that is long enough for what it encrypts" };
/** Answers before the first loss, and after it: until the moment, and in three segments of the log. */
const FIRST = 2;
const SECOND = { untilMoment: 1, segments: [1, 1, 1] } as const;
const ALL = FIRST + SECOND.untilMoment + SECOND.segments.length;

describe("a machine that is lost a second time", () => {
  let root: string;
  let second: string;
  let saldo: SaldoHere | SaldoProcess;
  let key: string;
  /** While the second machine served. */
  let moment: string;
  const made: string[] = [];

  beforeAll(async () => {
    root = await folder();
    const first = await folder();
    saldo = await SaldoHere.start({ ...SECRET, SALDO_DATA_DIR: first, SALDO_BACKUP_DIR: root });
    key = saldo.announced(KEY);
    await saldoJson(["backup", "--to", root], at(first));
    await chat(FIRST);
    await until(() => receivedAll(first));
    await saldo.stop();
    second = await folder();
    await saldoJson(["restore", "--from", root, "--data-dir", second], SECRET);
    const settings = { ...at(second), SALDO_BACKUP_DIR: root, SALDO_BACKUP_SYNCHRONOUS: "1" };
    const started = await SaldoProcess.start(settings);
    saldo = started;
    await saldoJson(["admission", "start"], at(second));
    await until(async () => (await ask()) === 200);
    moment = (await onServer(urlOf(second), "SELECT clock_timestamp() AS at")).rows[0].at.toISOString();
    const [one, two, three] = SECOND.segments;
    await chat(one);
    await onServer(urlOf(second), "SELECT pg_switch_wal()");
    await chat(two);
    await onServer(urlOf(second), "SELECT pg_switch_wal()");
    await chat(three);
    process.kill(await postmasterPid(second), "SIGKILL");
    await started.stop("SIGKILL");
  });
  afterAll(async () => {
    for (const each of made) await removeDataDir(each);
  });

  async function folder(): Promise<string> {
    const path = await makeDataDir();
    made.push(path);
    return path;
  }

  const at = (dir: string) => ({ ...SECRET, SALDO_DATA_DIR: dir });
  const urlOf = (dir: string) =>
    `postgres://postgres@localhost/postgres?host=${encodeURIComponent(join(dir, "socket"))}`;

  async function ask(): Promise<number> {
    const response = await fetch(`${saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: HELLO,
    });
    await response.arrayBuffer();
    return response.status;
  }

  async function chat(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) expect(await ask()).toBe(200);
  }

  /** Whether the receiver of the log has everything that is written now. */
  async function receivedAll(dir: string): Promise<boolean> {
    const text =
      "SELECT flush_lsn >= pg_current_wal_flush_lsn() AS all FROM pg_stat_replication WHERE application_name = 'saldo_backup'";
    return (await onServer(urlOf(dir), text)).rows[0]?.all === true;
  }

  /** Restores into a folder of its own. Returns the outcome, and how many answers its books have. */
  async function restore(words: readonly string[]) {
    const dir = await folder();
    const restored = await saldoJson(["restore", "--from", root, "--data-dir", dir, ...words], SECRET);
    const server = await startEmbeddedPostgres({ dataDir: dir });
    try {
      const { rows } = await onServer(urlOf(dir), "SELECT count(*)::int AS records FROM usage_record");
      return { ...restored, records: rows[0].records as number };
    } finally {
      await server.stop({ evenWithClients: true });
    }
  }

  /** The complete segments that the second machine's log has, the oldest first. */
  async function segments(): Promise<string[]> {
    const histories = await readdir(root);
    const folderOfSecond = join(root, histories.find((name) => name.endsWith("-2")) ?? "", "wal");
    const names = (await readdir(folderOfSecond)).filter((name) => /^[0-9A-F]{24}\.sealed$/.test(name));
    return names.toSorted().map((name) => join(folderOfSecond, name));
  }

  it("has every answer that was acknowledged behind the first restore", async () => {
    expect(await restore([])).toMatchObject({ records: ALL, timeline: 3 });
  });

  it("is restored to a moment of its second life", async () => {
    const records = FIRST + SECOND.untilMoment;
    expect(await restore(["--until", moment])).toMatchObject({ records, until: moment });
  });

  it("is restored as the first machine had it, where that timeline is asked for", async () => {
    expect(await restore(["--timeline", "1"])).toMatchObject({
      records: FIRST,
      notFollowed: [expect.stringMatching(/-2$/)],
    });
  });

  it("is refused where the log has a hole before the moment, and names the last one that there is", async () => {
    const [, lost = ""] = await segments();
    await rename(lost, `${lost}.away`);
    try {
      const dir = await folder();
      const words = ["restore", "--from", root, "--data-dir", dir];
      const name = /[0-9A-F]{24}/.exec(lost)?.[0] ?? "";
      const whole = await runSaldo(words, SECRET);
      expect(whole).toMatchObject({ code: 1, stderr: expect.stringContaining(`${name} of the log is missing`) });
      const asked = await runSaldo([...words, "--until", new Date().toISOString()], SECRET);
      expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining(`${name} of the log is missing`) });
      expect(await readdir(dir)).toEqual([]);
      const last = /--until (\S+Z)/.exec(asked.stderr)?.[1] ?? "";
      const { records } = await restore(["--until", last]);
      // The last commit itself is a part of a millisecond later.
      expect(records).toBeGreaterThanOrEqual(FIRST + SECOND.untilMoment);
      expect(records).toBeLessThanOrEqual(FIRST + SECOND.untilMoment + SECOND.segments[0]);
    } finally {
      await rename(`${lost}.away`, lost);
    }
  });

  it("is refused where the history of the timeline is missing", async () => {
    const [segment = ""] = await segments();
    const history = join(segment, "..", "..", "history.sealed");
    await rename(history, `${history}.away`);
    const outcome = await runSaldo(["restore", "--from", root, "--data-dir", await folder()], SECRET);
    await rename(`${history}.away`, history);
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/history of the timeline \d+-2 cannot be read/),
    });
  });
});
