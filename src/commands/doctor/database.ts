// The database: whether it answers, what the server is, its schema, who confirms commits, its clock, and the key of its secrets.

import { SECRET_COLUMNS, useKeysOf } from "../../app/compose/secrets.ts";
import { whereIs } from "../../app/compose/database.ts";
import type { Config } from "../../app/config/config.ts";
import { type DatabaseFacts, embeddedAbsence, inReadOnly, inspectDatabase } from "../../database/inspect.ts";
import {
  claimSecretsKey,
  isKeyClaimed,
  requireSecretsKey,
  WrongSecretsKey,
} from "../../database/secrets/secret-state.ts";
import { hasSecretsKey } from "../../kernel/sealed-text.ts";
import { type Check, codeOf, failed, type Finding, ok, type CheckContext, reasonOf, warning } from "./check.ts";

/** PostgreSQL's codes for a login that is not accepted, and for a database that is not there. */
const BAD_LOGIN: ReadonlySet<string> = new Set(["28P01", "28000"]);
const NO_DATABASE = "3D000";
const MUCH_OF_CONNECTIONS = 0.8;
/** Leases, windows and prices are decided by the database's clock; sessions and codes of apps by the process's. */
const CLOCK_OFF_MS = { warning: 1_000, failed: 10_000 } as const;

/** What is known of the database after its check, for those that read from it. */
export type DatabaseLook = {
  readonly checks: readonly Check[];
  /** Whether the schema can be read. Answers when the check has ended. */
  readonly isReadable: Promise<boolean>;
};

/** The checks of the database. */
export function databaseChecks({ config, withinMs }: CheckContext): DatabaseLook {
  const readable = Promise.withResolvers<boolean>();
  const advice =
    config.databaseUrl === null
      ? "See postgres.log in SALDO_DATA_DIR."
      : "Look at the server that DATABASE_URL names and the network path to it.";
  // A check that does not end has found nothing.
  setTimeout(() => readable.resolve(false), withinMs).unref();
  return {
    isReadable: readable.promise,
    checks: [
      {
        name: "database",
        advice,
        async look() {
          try {
            const { findings, isReadable } = await lookAtDatabase(config);
            readable.resolve(isReadable);
            return findings;
          } finally {
            readable.resolve(false);
          }
        },
      },
      {
        name: "secrets key",
        waitsForDatabase: true,
        advice: "Set SALDO_SECRETS_KEY to the key that the database's secrets are encrypted under.",
        look: async () => ((await readable.promise) ? [await lookAtSecrets(config)] : []),
      },
    ],
  };
}

async function lookAtDatabase(config: Config): Promise<{ findings: Finding[]; isReadable: boolean }> {
  const absent = config.databaseUrl === null ? await absenceOf(config.dataDir) : null;
  if (absent !== null) return { findings: [absent], isReadable: false };
  const facts = await inspectDatabase(whereIs(config), Date.now).catch((error: unknown) => loginProblem(error, config));
  if ("state" in facts) return { findings: [facts], isReadable: false };
  return {
    findings: [
      serverFinding(facts, config),
      schemaFinding(facts),
      purposeFinding(facts, config),
      requestFinding(facts),
      standbyFinding(facts, config),
      clockFinding(facts),
    ].flat(),
    isReadable: facts.schema.version > 0 && facts.schema.lacks === 0,
  };
}

/** Null: the embedded database runs. */
async function absenceOf(dataDir: string): Promise<Finding | null> {
  const absence = await embeddedAbsence(dataDir);
  if (absence === null) return null;
  if (absence.kind === "unmade") return ok("database", "there is none yet; the first start makes the embedded one");
  if (absence.kind === "stopped") {
    return warning(
      "database",
      "the embedded PostgreSQL does not run, so nothing in it was looked at",
      "Start the service, and ask again.",
    );
  }
  return failed(
    "database",
    `was made by PostgreSQL ${absence.theirs}, and this Saldo brings PostgreSQL ${absence.ours}`,
    "Set SALDO_DATA_DIR to another folder, or start the version of Saldo that made it.",
  );
}

/** The finding of a login that is refused. Errors: every other one. */
function loginProblem(error: unknown, { databaseOwnerUrl }: Config): Finding {
  const which = databaseOwnerUrl === null ? "DATABASE_URL" : "DATABASE_URL or DATABASE_OWNER_URL";
  if (BAD_LOGIN.has(codeOf(error)))
    return failed("database", `refuses the login: ${reasonOf(error)}`, `Set user and password in ${which}.`);
  if (codeOf(error) === NO_DATABASE)
    return failed("database", reasonOf(error), `Create it, or set its name in ${which}.`);
  throw error;
}

function serverFinding({ version, connectionsShare }: DatabaseFacts, { databaseUrl }: Config): Finding {
  const what = `PostgreSQL ${version} answers${databaseUrl === null ? " from the data folder" : ""}`;
  if (connectionsShare < MUCH_OF_CONNECTIONS) return ok("database", what);
  return warning(
    "database",
    `${what}, and ${Math.round(connectionsShare * 100)} % of its connections are taken`,
    "Raise max_connections, or lower SALDO_POOL_SIZE and SALDO_REQUEST_POOL_SIZE.",
  );
}

function schemaFinding({ schema: { version, lacks, isNewer } }: DatabaseFacts): Finding {
  if (version === 0) return ok("schema", "there is none yet; the first start makes it");
  if (isNewer)
    return warning(
      "schema",
      `is at change ${version}, which a newer Saldo has made`,
      "Bring this node to that version.",
    );
  if (lacks > 0)
    return warning(
      "schema",
      `lacks ${lacks} of the changes of this version`,
      "Start this version, or run saldo migrate.",
    );
  return ok("schema", `is up to date, at change ${version}`);
}

function purposeFinding({ purpose }: DatabaseFacts, { demo }: Config): Finding[] {
  if (purpose === null || (purpose === "demo") === demo) return [];
  return [
    failed(
      "purpose",
      `the database is ${purpose === "demo" ? "a demo's" : "production's"}, and this start is ${demo ? "a demo" : "production's"}`,
      demo ? "Set SALDO_DEMO=0, or use another database." : "Use another database, or run saldo demo clear.",
    ),
  ];
}

function requestFinding({ requestLogin }: DatabaseFacts): Finding[] {
  const check = "request login";
  if (requestLogin === null) return [];
  if (requestLogin.kind === "own") return [ok(check, "cannot create money")];
  if (requestLogin.kind === "shared")
    return [
      warning(
        check,
        "requests use the login of DATABASE_URL, which can create money",
        "Set DATABASE_REQUEST_URL to the login saldo_request.",
      ),
    ];
  return [
    failed(
      check,
      reasonOf(requestLogin.error),
      "Let DATABASE_REQUEST_URL log in as saldo_request, with its own rights alone.",
    ),
  ];
}

function standbyFinding({ standbys }: DatabaseFacts, { requireSyncStandby }: Config): Finding[] {
  if (standbys === null) return [];
  if (standbys > 0) return [ok("standby", standbys === 1 ? "one confirms commits" : `${standbys} confirm commits`)];
  if (!requireSyncStandby) return [ok("standby", "none confirms commits, and none is required")];
  return [
    failed(
      "standby",
      "none confirms commits, so nothing is served",
      "Bring a standby back that is in synchronous_standby_names. For SALDO_BACKUP_SYNCHRONOUS start the service.",
    ),
  ];
}

function clockFinding({ clock: { aheadMs, withinMs } }: DatabaseFacts): Finding {
  const off = Math.max(0, Math.abs(aheadMs) - withinMs);
  const text =
    off < 1
      ? "agrees with this machine's"
      : `is ${(off / 1_000).toFixed(3)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  if (off < CLOCK_OFF_MS.warning) return ok("database clock", text);
  const advice = "Let both machines take their time from NTP.";
  return off < CLOCK_OFF_MS.failed ? warning("database clock", text, advice) : failed("database clock", text, advice);
}

async function lookAtSecrets(config: Config): Promise<Finding> {
  await useKeysOf(config);
  try {
    return await inReadOnly(whereIs(config), async (client) => {
      await requireSecretsKey(client, SECRET_COLUMNS);
      if (!(await isKeyClaimed(client))) {
        return hasSecretsKey()
          ? ok("secrets key", "is set; the next start begins to use it")
          : ok("secrets key", "there is none yet");
      }
      // It writes only where none was claimed.
      if ((await claimSecretsKey(client, SECRET_COLUMNS)).hasFormer)
        return warning("secrets key", "secrets are encrypted under a former key", "Run saldo secrets rotate.");
      return ok("secrets key", "opens the secrets of the database");
    });
  } catch (error) {
    if (!(error instanceof WrongSecretsKey)) throw error;
    return failed(
      "secrets key",
      "is not the one that the secrets in this database are encrypted under",
      "Start with the former key, behind a comma after a new one. One that a start has made is in the file secrets-key of its SALDO_DATA_DIR.",
    );
  }
}
