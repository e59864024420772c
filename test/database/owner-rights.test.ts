// A login that owns its database and is no superuser: what it lacks is named by the start, with the statements that give it.

import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { openDatabase } from "../../src/database/database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { labelOf, schemaCode } from "../../src/database/migrations/migrations.ts";
import { readOwnerRights } from "../../src/database/schema/owner-rights.ts";
import { requestUrlOf, testBackends } from "../setup/test-database.ts";
import { onServer, urlOfDatabase } from "../setup/test-servers.ts";

/** Since then CREATEROLE gives power over the roles alone that the login made. */
const OWN_ROLES_ONLY = 160_000;
const ROLES = ["saldo_serve", "saldo_seed", "saldo_ledger", "saldo_request"];

describe.each(testBackends())("a login without powers on the %s server", (backend) => {
  const server = inject("testServers").find((each) => each.backend === backend);
  if (server === undefined) throw new Error(`this test run has no ${backend} server`);
  let name: string;
  let owner: string;
  /** The database, as the superuser and as its owner. */
  let url: string;
  let ownUrl: string;
  let isStrict: boolean;
  beforeEach(async () => {
    const id = randomBytes(6).toString("hex");
    [name, owner] = [`saldo_test_${id}`, `Owner ${id}`];
    await onServer(server.url, `CREATE ROLE "${owner}" LOGIN CREATEROLE`);
    await onServer(server.url, `CREATE DATABASE ${name} OWNER "${owner}"`);
    url = urlOfDatabase(server.url, name);
    ownUrl = url.replace(/\/\/[^@/]*@/, `//${encodeURIComponent(owner)}@`);
    const { rows } = await onServer(url, "SELECT current_setting('server_version_num')::int AS version");
    isStrict = Number(rows[0]?.version) >= OWN_ROLES_ONLY;
  });
  afterEach(async () => {
    await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
    await onServer(server.url, `DROP OWNED BY "${owner}"`);
    await onServer(server.url, `DROP ROLE "${owner}"`);
  });

  const changes = () => migrate(clientConfig({ connectionString: ownUrl }, "test"));
  const ALL = schemaCode.migrations.map(labelOf);

  /** The statements that a refusal names. */
  async function statementsOf(): Promise<string[]> {
    const refused = await changes().then(
      () => "nothing was refused",
      (error: Error) => error.message,
    );
    const [about, named = ""] = refused.split(" as the owner of what it names: ");
    expect(about).toMatch(
      `of database ${name} has to be brought up to date, and this login may not. The login "${owner}" lacks`,
    );
    return named.split(/(?<=;) /);
  }

  test("is given the statements that it needs, and starts after them", async () => {
    await onServer(url, "ALTER SCHEMA public OWNER TO CURRENT_USER; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    const statements = await statementsOf();
    const ofRoles = ROLES.map((role) => `GRANT ${role} TO "${owner}" WITH ADMIN OPTION;`);
    const ofSchema = `GRANT USAGE, CREATE ON SCHEMA public TO "${owner}" WITH GRANT OPTION;`;
    expect(statements).toEqual([...(isStrict ? ofRoles : []), ofSchema]);
    for (const statement of statements) await onServer(url, statement);
    expect(await changes()).toEqual(ALL);
    const database = await openDatabase({ url: ownUrl, requestUrl: requestUrlOf(ownUrl), dataDir: "" });
    await database.close();
  });

  test("that may create in the schema public, and not let others create, is given the grant option", async () => {
    await onServer(
      url,
      `ALTER SCHEMA public OWNER TO CURRENT_USER; GRANT USAGE, CREATE ON SCHEMA public TO "${owner}"`,
    );
    if (isStrict) for (const role of ROLES) await onServer(url, `GRANT ${role} TO "${owner}" WITH ADMIN OPTION`);
    const statements = await statementsOf();
    expect(statements).toEqual([`GRANT USAGE, CREATE ON SCHEMA public TO "${owner}" WITH GRANT OPTION;`]);
    for (const statement of statements) await onServer(url, statement);
    // What was applied before the refused change stays.
    expect(ALL).toEqual(expect.arrayContaining(await changes()));
    expect(await changes()).toEqual([]);
  });

  test("that may not create in the database is given that right", async () => {
    await onServer(url, "ALTER SCHEMA public OWNER TO CURRENT_USER");
    await onServer(url, `ALTER DATABASE ${name} OWNER TO CURRENT_USER`);
    if (isStrict) for (const role of ROLES) await onServer(url, `GRANT ${role} TO "${owner}" WITH ADMIN OPTION`);
    await onServer(url, `GRANT USAGE, CREATE ON SCHEMA public TO "${owner}" WITH GRANT OPTION`);
    const statements = await statementsOf();
    expect(statements).toEqual([`GRANT CREATE ON DATABASE ${name} TO "${owner}";`]);
    for (const statement of statements) await onServer(url, statement);
    expect(await changes()).toEqual(ALL);
  });

  test("that may make no roles is given that right, where one is missing", async () => {
    // Databases of other tests have all the roles, so the server is not asked: the roles that count are these.
    await onServer(server.url, `ALTER ROLE "${owner}" NOCREATEROLE`);
    const missing = [...ROLES, `missing_${name}`];
    const rights = await withClient(clientConfig({ connectionString: ownUrl }, "test"), (client) =>
      readOwnerRights(client, missing),
    );
    expect(rights.statements[0]).toBe(`ALTER ROLE "${owner}" CREATEROLE;`);
    expect(rights.statements).toHaveLength(1 + ROLES.length);
  });

  test("is named the owner where the tables are another login's", async () => {
    await migrate(clientConfig({ connectionString: url }, "test"));
    await onServer(url, "DELETE FROM schema_change WHERE number = (SELECT max(number) FROM schema_change)");
    await onServer(url, `GRANT SELECT ON schema_change, schema_function TO "${owner}"`);
    await expect(changes()).rejects.toThrow(
      /this login may not\. Set DATABASE_OWNER_URL to the login that owns the schema/,
    );
  });
});
