// A PostgreSQL in a container, on a network of its own, for the containers of a trial.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEPLOY } from "./deployed.ts";
import { type Engine, eventually } from "./engine.ts";

const PASSWORD = "a password of a trial";
const REQUEST_PASSWORD = "another password of a trial";

/** Starts a network of this name with a PostgreSQL in it. Gives its URL there, and that of the login of chat requests. */
export async function startDatabase(engine: Engine, network: string): Promise<{ url: string; requestUrl: string }> {
  const password = join(engine.facts.folder, `${network}-password`);
  const requestPassword = join(engine.facts.folder, `${network}-request-password`);
  await writeFile(password, PASSWORD, { mode: 0o444 });
  await writeFile(requestPassword, REQUEST_PASSWORD, { mode: 0o444 });
  await engine.podman("network", "create", network);
  const [host, environment] = [`${network}-postgres`, { POSTGRES_DB: "saldo", POSTGRES_USER: "saldo" }];
  await engine.podman(
    "run",
    "--detach",
    `--name=${host}`,
    `--network=${network}`,
    ...Object.entries({
      ...environment,
      POSTGRES_PASSWORD_FILE: "/run/password",
      POSTGRES_INITDB_ARGS: "--locale=C",
    }).map(([name, value]) => `--env=${name}=${value}`),
    `--volume=${password}:/run/password:ro`,
    `--volume=${requestPassword}:/run/secrets/database-request-password:ro`,
    `--volume=${join(DEPLOY, "postgres")}:/docker-entrypoint-initdb.d:ro`,
    "localhost/postgres:18",
  );
  await eventually("PostgreSQL is ready", async () => (await engine.tryPodman("exec", host, "pg_isready")).code === 0);
  const urlOf = (login: string, secret: string): string =>
    `postgres://${login}:${encodeURIComponent(secret)}@${host}:5432/saldo`;
  return { url: urlOf("saldo", PASSWORD), requestUrl: urlOf("saldo_request", REQUEST_PASSWORD) };
}
