// A service of its own for sign-ups, with a mail server of the test.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SaldoHere } from "../setup/saldo-here.ts";
import { PRODUCTION } from "../setup/saldo-process.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { Browser } from "./browser.ts";
import { startMailServer } from "./mail-server.ts";

export type ServedPeople = Awaited<ReturnType<typeof servePeople>>;

/** Starts it, as in production, with further settings if there are any. */
export async function servePeople(more: Readonly<Record<string, string>> = {}) {
  const [opened, mails] = await Promise.all([createTestDatabase(), startMailServer()]);
  const folder = await mkdtemp(join(tmpdir(), `saldo-people-${process.pid}-`));
  const settings: Record<string, string> = {
    SALDO_DATA_DIR: folder,
    DATABASE_URL: opened.url,
    SALDO_DEMO: "0",
    ...PRODUCTION,
    SMTP_URL: mails.url,
    ...more,
  };
  const saldo = await SaldoHere.start(settings);
  let people = 0;
  return {
    opened,
    mails,
    saldo,
    settings,
    newEmail: (): string => `person-${(people += 1)}@test.example`,
    newBrowser: (): Browser => new Browser(saldo.httpUrl),
    async stop(): Promise<void> {
      await saldo.stop();
      await mails.stop();
      await opened.drop();
      await rm(folder, { recursive: true });
    },
  };
}
