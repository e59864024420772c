// The dashboard as a person uses it: the built pages, served by a real process on a database of the test, in a real
// browser.

import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { waitForLocks, withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type MailServer, startMailServer } from "../identity/mail-server.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { browserOfWorker } from "./chromium.ts";
import { createDelay } from "./delayed-calls.ts";
import { buildPages, signInToDemo } from "./demo-pages.ts";

/** A password that is only used in tests. */
const PASSWORD = "kuda laut menari di pagi hari";

/** The most that a busy machine may take for one step; a test has twice the time. */
const STEP_WITHIN_MS = 60_000;

export type Visit = { readonly context: BrowserContext; readonly page: Page };

/** The problems that a page must never have; a test asserts that at its end. */
export type Complaints = string[];

export type Dashboard = {
  readonly saldo: SaldoHere;
  readonly database: TestDatabase;
  readonly mails: MailServer;
  /** The problems so far: script errors, refusals by the policy. */
  readonly complaints: Complaints;
  /** A new browser profile at the given path, without a session. */
  visit(path: string, options?: Parameters<Browser["newContext"]>[0]): Promise<Visit>;
  /** A profile in which the demo's person is signed in. */
  visitDemo(path: string, options?: Parameters<Browser["newContext"]>[0]): Promise<Visit>;
  /** Fills in the sign-up form for a new person, without sending it. */
  fillSignUp(page: Page): Promise<{ readonly email: string }>;
  /** Signs a new person up, by form and mail, up to their first page and account. */
  signUp(options?: Parameters<Browser["newContext"]>[0]): Promise<Visit & { readonly email: string }>;
  /** Changes rows directly in the database, and waits for those that the service has locked. */
  changeRows(sql: string, values?: readonly unknown[]): Promise<void>;
  close(): Promise<void>;
};

/** Builds the pages if needed, and starts everything. */
export async function openDashboard(settings: Readonly<Record<string, string>> = {}): Promise<Dashboard> {
  await buildPages();
  await using stack = new AsyncDisposableStack();
  const database = await createTestDatabase();
  stack.defer(() => database.drop());
  const mails = await startMailServer();
  stack.defer(() => mails.stop());
  const saldo = await SaldoHere.start({ DATABASE_URL: database.url, SMTP_URL: mails.url, ...settings });
  stack.defer(() => saldo.stop());
  const browser = await browserOfWorker();
  const contexts: BrowserContext[] = [];
  stack.defer(async () => void (await Promise.all(contexts.map((context) => context.close()))));
  const complaints: Complaints = [];
  const delay = createDelay();

  async function visit(path: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visit> {
    const context = await browser.newContext({ locale: "id-ID", viewport: { width: 1280, height: 900 }, ...options });
    contexts.push(context);
    context.setDefaultTimeout(STEP_WITHIN_MS);
    await delay(context);
    context.on("weberror", (error) => complaints.push(String(error.error())));
    context.on("console", (message) => {
      if (message.type() === "error" && /policy|Uncaught|Warning:/.test(message.text()))
        complaints.push(message.text());
    });
    const page = await context.newPage();
    await page.goto(saldo.httpUrl + path);
    return { context, page };
  }

  async function visitDemo(path: string, options?: Parameters<Browser["newContext"]>[0]): Promise<Visit> {
    const opened = await visit(`/sign-in?next=${encodeURIComponent(path)}`, options);
    await signInToDemo(opened.page);
    return opened;
  }

  async function fillSignUp(page: Page): Promise<{ readonly email: string }> {
    const email = `${uuidv7()}@saldo.example`;
    await page.getByLabel(/^(?:Nama|Name)/).fill("Siti");
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel(/^(?:Kata sandi|Password)/).fill(PASSWORD);
    return { email };
  }

  async function signUp(options?: Parameters<Browser["newContext"]>[0]): Promise<Visit & { readonly email: string }> {
    const opened = await visit("/sign-up", options);
    const { page } = opened;
    const { email } = await fillSignUp(page);
    await page.getByRole("button", { name: "Daftar" }).click();
    await page.getByRole("heading", { name: "Periksa e-mail Anda" }).waitFor();
    await page.goto(await mails.linkTo(email, /verify-email/));
    // The page names the person once the service has returned them, and has created the account.
    await page.getByText(email).first().waitFor({ state: "attached" });
    return { ...opened, email };
  }

  const changeRows = (sql: string, values: readonly unknown[] = []) =>
    withTransaction(database.database, async (client) => {
      await waitForLocks(client);
      await client.query(sql, [...values]);
    });

  const started = stack.move();
  return {
    saldo,
    database,
    mails,
    complaints,
    visit,
    visitDemo,
    fillSignUp,
    signUp,
    changeRows,
    close: () => started.disposeAsync(),
  };
}

/** No page has had a problem so far. */
export function expectNoComplaints({ complaints }: Pick<Dashboard, "complaints">): void {
  expect(complaints).toEqual([]);
}
