// A ledger whose lane goes through a proxy that breaks what a test asks for, for the tests of a `describe`.

import { afterAll, beforeAll } from "vitest";
import { MoneySetup, type TestProcess } from "../money/money-setup.ts";
import type { TestBackend } from "../setup/test-servers.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

/** What is opened before the first test. */
export type LedgerBehindProxy = {
  readonly setup: MoneySetup;
  readonly proxy: PostgresProxy;
  readonly process: TestProcess;
};

/** Opens it before the tests and closes it after them. Its members are there once the tests run. */
export function useLedgerBehindProxy(backend: TestBackend): LedgerBehindProxy {
  let opened: LedgerBehindProxy;
  beforeAll(async () => {
    const setup = await MoneySetup.create(backend);
    const proxy = await PostgresProxy.before(setup.opened.url);
    opened = { setup, proxy, process: await setup.process(1, proxy.urlFor(setup.opened.url)) };
  });
  afterAll(async () => {
    await opened.setup.close();
    await opened.proxy.close();
  });
  return {
    get setup() {
      return opened.setup;
    },
    get proxy() {
      return opened.proxy;
    },
    get process() {
      return opened.process;
    },
  };
}
