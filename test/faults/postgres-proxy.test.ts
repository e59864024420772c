// The proxy's faults have their documented effect on the server, as seen from another connection.

import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { onServer } from "../setup/test-servers.ts";
import type { Fault } from "./postgres-link.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

/** One statement as a lane sends it, prepared under a name, and one as a plain client does. */
const INSERTS = [{ name: "put", text: "INSERT INTO kept VALUES (1)" }, { text: "INSERT INTO kept VALUES (1)" }];
const LOST = /Connection terminated|ECONNRESET/;

describe.each(testBackends())("the fault proxy before the %s database", (backend) => {
  let opened: TestDatabase;
  let proxy: PostgresProxy;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    proxy = await PostgresProxy.before(opened.url);
    await onServer(opened.url, "CREATE TABLE kept (value int)");
  });
  beforeEach(async () => {
    await onServer(opened.url, "TRUNCATE kept");
  });
  afterAll(async () => {
    await proxy.close();
    await opened.drop();
  });

  const rows = async () => (await onServer(opened.url, "SELECT FROM kept")).rowCount;
  /** Inserts through the proxy. Returns the error, undefined for none. */
  async function insert(statement: { text: string }, fault?: Fault): Promise<Error | undefined> {
    const client = new pg.Client({ connectionString: proxy.urlFor(opened.url) });
    client.on("error", () => {}); // the statement reports it
    await client.connect();
    const hit = fault === undefined ? undefined : proxy.once(/put|INSERT/, fault);
    const error = await client.query(statement).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    await hit;
    await client.end().catch(() => {}); // it may be gone already
    return error;
  }

  describe.each(INSERTS)("for $name $text", (statement) => {
    it("passes on turns without a fault", async () => {
      expect(await insert(statement)).toBeUndefined();
      expect(await rows()).toBe(1);
    });

    it.each([
      ["lose-request", 0],
      ["lose-commit", 0],
      ["lose-reply", 1],
    ] as const)("%s: the client gets no reply, and the server has %i rows", async (fault, kept) => {
      expect(await insert(statement, fault)).toMatchObject({ message: expect.stringMatching(LOST) as string });
      expect(await rows()).toBe(kept);
    });

    it.each(["strand-request", "strand-commit"] as const)("%s: the server commits later", async (fault) => {
      expect(await insert(statement, fault)).toMatchObject({ message: expect.stringMatching(LOST) as string });
      await expect.poll(() => proxy.stranded.length).toBe(1);
      expect(await rows()).toBe(0);
      expect(await proxy.stranded.pop()?.release()).toBe("committed");
      expect(await rows()).toBe(1);
    });

    it("delays", async () => {
      expect(await insert(statement, { delayMs: 10 })).toBeUndefined();
      expect(await rows()).toBe(1);
    });
  });

  it("makes the server raise an error after the statement, which undoes it", async () => {
    expect(await insert(INSERTS[0] ?? { text: "" }, { raise: "53100" })).toMatchObject({ code: "53100" });
    expect(await rows()).toBe(0);
    expect(proxy.errors.get("53100")).toBe(1);
  });

  it("refuses connections like a server that is away", async () => {
    proxy.cutAll({ refuse: true });
    await expect(insert({ text: "SELECT" })).rejects.toThrow(LOST);
    proxy.isAway = false;
    expect(await insert({ text: "SELECT" })).toBeUndefined();
  });

  it("reports a turn that the server has ended itself as gone", async () => {
    await insert(INSERTS[0] ?? { text: "" }, "strand-commit");
    await expect.poll(() => proxy.stranded.length).toBe(1);
    await onServer(
      opened.url,
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO kept%'",
    );
    expect(await proxy.stranded.pop()?.release()).toBe("gone");
    expect(await rows()).toBe(0);
  });
});
