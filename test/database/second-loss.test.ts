// A machine that is lost after its books were restored once: the books went on in another timeline, whose log is in the same folder.

import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, BACKUP_SECRET, chat, DEMO_KEY, Folders, receivedAll, restore, urlIn } from "../setup/backups.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { postmasterPid, until } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { onServer } from "../setup/test-servers.ts";

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
  const folders = new Folders();

  beforeAll(async () => {
    root = await folders.make();
    const first = await folders.make();
    saldo = await SaldoHere.start({ ...BACKUP_SECRET, SALDO_DATA_DIR: first, SALDO_BACKUP_DIR: root });
    key = saldo.announced(DEMO_KEY);
    await saldoJson(["backup", "--to", root], at(first));
    await chat(saldo.httpUrl, key, FIRST);
    await until(() => receivedAll(first));
    await saldo.stop();
    second = await folders.make();
    await saldoJson(["restore", "--from", root, "--data-dir", second], BACKUP_SECRET);
    const settings = { ...at(second), SALDO_BACKUP_DIR: root, SALDO_BACKUP_SYNCHRONOUS: "1" };
    const started = await SaldoProcess.start(settings);
    saldo = started;
    await saldoJson(["admission", "start"], at(second));
    await until(async () => (await ask(saldo.httpUrl, key)).status === 200);
    moment = (await onServer(urlIn(second), "SELECT clock_timestamp() AS at")).rows[0].at.toISOString();
    const [one, two, three] = SECOND.segments;
    await chat(saldo.httpUrl, key, one);
    await onServer(urlIn(second), "SELECT pg_switch_wal()");
    await chat(saldo.httpUrl, key, two);
    await onServer(urlIn(second), "SELECT pg_switch_wal()");
    await chat(saldo.httpUrl, key, three);
    process.kill(await postmasterPid(second), "SIGKILL");
    await started.stop("SIGKILL");
  });
  afterAll(async () => {
    await folders.remove();
  });

  const at = (dir: string) => ({ ...BACKUP_SECRET, SALDO_DATA_DIR: dir });

  const restored = async (words: readonly string[] = []) => restore(root, await folders.make(), { words });

  /** The complete segments that the second machine's log has, the oldest first. */
  async function segments(): Promise<string[]> {
    const histories = await readdir(root);
    const folderOfSecond = join(root, histories.find((name) => name.endsWith("-2")) ?? "", "wal");
    const names = (await readdir(folderOfSecond)).filter((name) => /^[0-9A-F]{24}\.sealed$/.test(name));
    return names.toSorted().map((name) => join(folderOfSecond, name));
  }

  it("has every answer that was acknowledged behind the first restore", async () => {
    expect(await restored()).toMatchObject({ records: ALL, timeline: 3 });
  });

  it("is restored to a moment of its second life", async () => {
    const records = FIRST + SECOND.untilMoment;
    expect(await restored(["--until", moment])).toMatchObject({ records, until: moment });
  });

  it("is restored as the first machine had it, where that timeline is asked for", async () => {
    expect(await restored(["--timeline", "1"])).toMatchObject({
      records: FIRST,
      notFollowed: [expect.stringMatching(/-2$/)],
    });
  });

  it("is refused where the log has a hole before the moment, and names the last one that there is", async () => {
    const [, lost = ""] = await segments();
    await rename(lost, `${lost}.away`);
    try {
      const dir = await folders.make();
      const words = ["restore", "--from", root, "--data-dir", dir];
      const name = /[0-9A-F]{24}/.exec(lost)?.[0] ?? "";
      const whole = await runSaldo(words, BACKUP_SECRET);
      expect(whole).toMatchObject({ code: 1, stderr: expect.stringContaining(`${name} of the log is missing`) });
      const asked = await runSaldo([...words, "--until", new Date().toISOString()], BACKUP_SECRET);
      expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining(`${name} of the log is missing`) });
      expect(await readdir(dir)).toEqual([]);
      const last = /--until (\S+Z)/.exec(asked.stderr)?.[1] ?? "";
      expect(new Date(last).getTime()).toBeGreaterThan(new Date(moment).getTime());
      if (!IS_LONG) return;
      const { records } = await restored(["--until", last]);
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
    const outcome = await runSaldo(["restore", "--from", root, "--data-dir", await folders.make()], BACKUP_SECRET);
    await rename(`${history}.away`, history);
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/history of the timeline \d+-2 cannot be read/),
    });
  });
});
