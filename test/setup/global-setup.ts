// One PostgreSQL for a whole test run, with one migrated database that every test file gets a copy of. It lives in a
// temporary folder and goes away with the run; what a killed run left behind, the next one removes.

import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { makeDataDir, removeAbandonedDataDirs, removeDataDir, urlOf } from "./own-server.ts";
import { dropTemplate, prepareTemplate } from "./test-servers.ts";
import type { TestServer } from "./test-servers.ts";

declare module "vitest" {
  interface ProvidedContext {
    testServers: TestServer[];
  }
}

/** Starts the servers of the run; what it returns is called at its end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeAbandonedDataDirs();
  const dataDir = await makeDataDir();
  const embedded = await startEmbeddedPostgres({ dataDir });
  const template = `saldo_test_template_${process.pid}`;
  const servers: TestServer[] = [{ backend: "embedded", url: urlOf(embedded), template }];
  const external = process.env["DATABASE_URL"];
  if (external !== undefined && external !== "") servers.push({ backend: "external", url: external, template });
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(dropTemplate));
    await embedded.stop({ evenWithClients: true });
    await removeDataDir(dataDir);
  };
  try {
    await Promise.all(servers.map(prepareTemplate));
    project.provide("testServers", servers);
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}
