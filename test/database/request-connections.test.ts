// The connections of requests under a login of their own.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forRequests, openDatabase } from "../../src/database/database.ts";
import { backendOf } from "../../src/database/login-connections.ts";
import { SERVING_SETTINGS } from "../../src/database/serving-settings.ts";
import { isDatabaseAway } from "../../src/database/transactions.ts";
import { createTestDatabase, requestUrlOf, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { onServer } from "../setup/test-servers.ts";

const LOGIN = "SELECT session_user AS login, current_user AS role, current_setting('plan_cache_mode') AS plans";
const OWN = [{ login: "saldo_request", role: "saldo_request", plans: "force_generic_plan" }];

describe.each(testBackends())("requests on the %s server", (backend) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
  });
  afterAll(() => opened.drop());

  const open = (requestUrl: string) => openDatabase({ url: opened.url, requestUrl, dataDir: "" });

  test("have their login on the pool and on a connection of one's own, and everything else the serving role", async () => {
    const requests = forRequests(opened.database);
    expect((await requests.pool.query(LOGIN)).rows).toEqual(OWN);
    const client = await requests.connect();
    expect((await client.query(LOGIN)).rows).toEqual(OWN);
    await client.end();
    expect((await opened.database.pool.query(LOGIN)).rows).toMatchObject([{ role: "saldo_serve" }]);
  });

  test("end their own lost backends", async () => {
    const requests = forRequests(opened.database);
    const lost = await requests.connect();
    await requests.endBackend(await backendOf(lost));
    await expect(lost.query("SELECT 1")).rejects.toSatisfy(isDatabaseAway);
  });

  test("use the serving role where they have no login", async () => {
    const database = await openDatabase({ url: opened.url, dataDir: "" });
    try {
      const requests = forRequests(database);
      expect((await requests.pool.query(LOGIN)).rows).toMatchObject([{ role: "saldo_serve" }]);
      const lost = await requests.connect();
      await requests.endBackend(await backendOf(lost));
      await expect(lost.query("SELECT 1")).rejects.toSatisfy(isDatabaseAway);
    } finally {
      await database.close();
    }
  });

  test("have the settings of serving sessions by their role alone", async () => {
    // Other tests open this role's sessions at the same moment, so nothing is changed here.
    const { rows } = await onServer(opened.url, "SELECT rolconfig FROM pg_roles WHERE rolname = 'saldo_request'");
    const wanted = Object.entries(SERVING_SETTINGS).map(([name, value]) => `${name}=${value}`);
    expect((rows as { rolconfig: string[] }[])[0]?.rolconfig).toEqual(expect.arrayContaining(wanted));
  });

  test("are refused with a login that is another one", async () => {
    for (const login of [opened.url, opened.url.replace(/\/\/[^@/]*@/, "//saldo_serve@")])
      await expect(open(login)).rejects.toThrow(/Let DATABASE_REQUEST_URL log in as saldo_request/);
    // A login that only takes the role on can let go of it.
    const borrowed = `${opened.url}${opened.url.includes("?") ? "&" : "?"}options=-c%20role%3Dsaldo_request`;
    await expect(open(borrowed)).rejects.toThrow(/Let DATABASE_REQUEST_URL log in as saldo_request/);
  });

  test("are refused with a login that leads to another database", async () => {
    const other = await createTestDatabase({ backend });
    try {
      await expect(open(requestUrlOf(other.url))).rejects.toThrow("DATABASE_REQUEST_URL leads to another database");
    } finally {
      await other.drop();
    }
  });

  test.each([
    ["GRANT INSERT ON posting", "REVOKE INSERT ON posting", /may write money/],
    ["GRANT UPDATE (posted) ON account", "REVOKE UPDATE (posted) ON account", /may write money/],
    ["GRANT DELETE ON hold", "REVOKE DELETE ON hold", /may write money/],
    ["GRANT TRIGGER ON usage_record", "REVOKE TRIGGER ON usage_record", /may write money/],
    ["GRANT CREATE ON SCHEMA public", "REVOKE CREATE ON SCHEMA public", /may make functions in the schema public/],
  ])("are refused with a login that could mint: %s", async (grant, revoke, refusal) => {
    for (const role of ["saldo_request", "public"]) {
      await onServer(opened.url, `${grant} TO ${role}`);
      await expect(open(requestUrlOf(opened.url))).rejects.toThrow(refusal);
      await onServer(opened.url, `${revoke} FROM ${role}`);
    }
    await (await open(requestUrlOf(opened.url))).close();
  });
});
