// A service of its own where people sign up, with a mail server of the test.

import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { Browser } from "./browser.ts";
import { startMailServer } from "./mail-server.ts";

export type ServedPeople = Awaited<ReturnType<typeof servePeople>>;

/** Starts it, as in production. */
export async function servePeople() {
  const [opened, mails] = await Promise.all([createTestDatabase(), startMailServer()]);
  const settings: Record<string, string> = {
    DATABASE_URL: opened.url,
    SALDO_DEMO: "0",
    NODE_ENV: "production",
    SMTP_URL: mails.url,
  };
  const saldo = await SaldoProcess.start(settings);
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
    },
  };
}
