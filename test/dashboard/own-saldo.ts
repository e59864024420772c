// A demo with a database of its own and a browser that is signed in to it, for programs that run outside the test suite.

import type { BrowserContext } from "playwright-core";
import { makeDataDir, removeDataDir } from "../setup/own-server.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { startBrowser } from "./chromium.ts";
import { buildPages, signInToDemo } from "./demo-pages.ts";

export type OwnSaldo = AsyncDisposable & {
  readonly url: string;
  /** A browser profile in which the demo's person is signed in. */
  readonly signedIn: BrowserContext;
  /** One without a session: the page for signing in redirects a signed-in person. */
  readonly signedOut: BrowserContext;
};

/** Builds the pages if needed, and starts everything; leaving the block stops it. */
export async function openOnOwnServer(): Promise<OwnSaldo> {
  await buildPages();
  await using stack = new AsyncDisposableStack();
  const dataDir = await makeDataDir();
  stack.defer(() => removeDataDir(dataDir));
  const saldo = await SaldoProcess.start({ SALDO_DATA_DIR: dataDir });
  stack.defer(async () => void (await saldo.stop()));
  const browser = await startBrowser();
  stack.defer(() => browser.close());
  const phone = { locale: "id-ID", viewport: { width: 390, height: 844 } };
  const [signedIn, signedOut] = [await browser.newContext(phone), await browser.newContext(phone)];
  const page = await signedIn.newPage();
  await page.goto(`${saldo.httpUrl}/sign-in`);
  await signInToDemo(page);
  await page.close();
  const started = stack.move();
  return { url: saldo.httpUrl, signedIn, signedOut, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
