import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { expect, test } from "vitest";
import { clientConfig } from "./connections.ts";

const CERTIFICATES = new URL("../../test/setup/certificates/", import.meta.url);

test("a login may show a certificate instead of a password, which its files hold", () => {
  const pem = (name: string): string => fileURLToPath(new URL(`${name}.pem`, CERTIFICATES));
  const files = `sslrootcert=${pem("localhost-cert")}&sslcert=${pem("localhost-cert")}&sslkey=${pem("localhost-key")}`;
  const url = `postgres://saldo_serve@db.example/saldo?sslmode=verify-full&${files}`;
  const client = new Client(clientConfig({ connectionString: url }, "test"));
  const { ssl } = Reflect.get(client, "connectionParameters") as { ssl: Record<string, string> };
  expect(ssl).toMatchObject({
    cert: readFileSync(pem("localhost-cert"), "utf8"),
    key: readFileSync(pem("localhost-key"), "utf8"),
  });
  expect(ssl["rejectUnauthorized"]).not.toBe(false);
});
