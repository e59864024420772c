// One PostgreSQL for a whole test run, with one migrated database that every test file gets a copy of. It lives in a
// temporary folder and goes away with the run, however that ends.

import { mkdtemp, chmod, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../../src/database/embedded-postgres.ts";
import { prepareTemplate } from "./test-servers.ts";
import type { TestServer } from "./test-servers.ts";

declare module "vitest" {
  interface ProvidedContext {
    testServers: TestServer[];
  }
}

/** Starts the servers of the run; what it returns is called at its end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "saldo-test-"));
  await chmod(folder, 0o711);
  const embedded = await startEmbeddedPostgres({ dataDir: folder });
  const close = async (): Promise<void> => {
    await embedded.stop({ evenWithClients: true });
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const url = `postgres://${embedded.user}@localhost/${embedded.database}?host=${encodeURIComponent(embedded.host)}`;
    const servers: TestServer[] = [{ backend: "embedded", url }];
    const external = process.env["DATABASE_URL"];
    if (external !== undefined && external !== "") servers.push({ backend: "external", url: external });
    await Promise.all(servers.map(prepareTemplate));
    project.provide("testServers", servers);
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}
