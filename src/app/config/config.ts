// Configuration: the only reader of the environment. Every variable has a working default and is listed in .env.example; a
// wrong one stops the start with its name and what is accepted.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { addressesOf } from "../../kernel/database-hosts.ts";
import { readAmounts } from "./amounts.ts";
import { CLEARTEXT_ALLOWANCES, type CleartextAllowance, DEMO_ALLOWANCES, type DemoAllowance } from "./allowances.ts";
import { type CellSettings, readCells } from "./cells.ts";
import { type ChainConfig, readChains } from "./chains.ts";
import { ConfigError, type Environment, forgetSettings, openSettings, withoutSettings } from "./environment.ts";
import { type PaymentSettings, readPayments } from "./payments.ts";
import { readersOf, type SettingReaders } from "./setting-readers.ts";
import { readSigners, type SignerSettings } from "./signers.ts";
import { readTraces, type TraceSettings } from "./traces.ts";
import type { FailpointSetting } from "./failpoint-setting.ts";

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
const LOG_LEVELS: readonly LogLevel[] = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/** In the checkout, wherever the command is called from: two folders would be two sets of books. */
const DATA_DIR = fileURLToPath(new URL("../../../.saldo", import.meta.url));

/** A certificate and its key, as PEM files. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string };

export type Config = {
  readonly host: string;
  /** Loopback unless it is set, for every `host`: the port is for our own programs. */
  readonly grpcHost: string;
  /** The same for metrics, which show more than callers should know. */
  readonly metricsHost: string;
  /** The certificate of each port. Null: the port is cleartext. */
  readonly httpTls: TlsFiles | null;
  readonly grpcTls: TlsFiles | null;
  readonly metricsTls: TlsFiles | null;
  /** 0 takes a free port. */
  readonly httpPort: number;
  readonly grpcPort: number;
  readonly metricsPort: number;
  /** The public address of the HTTP port, without a slash at the end. Null: host and port. */
  readonly publicUrl: string | null;
  /** Whether the gRPC port answers questions about the contracts. */
  readonly grpcReflection: boolean;
  /** Where the embedded PostgreSQL and its files live; an absolute path. */
  readonly dataDir: string;
  /** Where a node that pays out stores what it signs, apart from the database; an absolute path. */
  readonly payoutJournalDir: string;
  /** An external PostgreSQL, or the primary of several. Null: the embedded one. */
  readonly databaseUrl: string | null;
  /** The login that owns the tables and migrates. Null: the one of databaseUrl. */
  readonly databaseOwnerUrl: string | null;
  /** The login of chat requests, which cannot create money. Null: the one of databaseUrl; the embedded database has its own. */
  readonly databaseRequestUrl: string | null;
  /** A standby for reads that may lag. Null: they go to the primary. */
  readonly databaseReadUrl: string | null;
  /** How old what is read there may be. */
  readonly maxReadLagMs: number;
  /** Further databases with accounts, beside the home cell, which is that of databaseUrl. Empty: there is no other. */
  readonly cells: CellSettings["cells"];
  /** The cell that new accounts come into: `home`, one of `cells`, or `least-full`. */
  readonly newAccountsIn: CellSettings["newAccountsIn"];
  /** Whether nothing is served while no standby confirms commits. */
  readonly requireSyncStandby: boolean;
  /** How many connections commit holds and settlements. */
  readonly lanes: number;
  /** How many connections a process opens at most for people, merchants, operators and background work. */
  readonly poolSize: number;
  /** The same for key look-ups and all other queries of chat requests. */
  readonly requestPoolSize: number;
  /** How many processes of this node answer requests. 1: this one does. */
  readonly workers: number;
  /** Whether the demo account, key, merchant and models are there. */
  readonly demo: boolean;
  /** Whether NODE_ENV is production. A demo in production has no sign-in by one click. */
  readonly production: boolean;
  /** What a demo may do although it hands out credentials and play money. */
  readonly demoAllows: ReadonlySet<DemoAllowance>;
  /** Where production may send secrets in clear. */
  readonly cleartextAllows: ReadonlySet<CleartextAllowance>;
  /** The server that mails go to. Null: a demo shows them, a real service has none. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /** What sessions and links are signed with: the first. All decrypt. Empty: a secret kept in the database. */
  readonly authSecrets: readonly string[];
  /** What secrets in the database are encrypted under: the first encrypts, all decrypt. Empty: they are stored in clear. */
  readonly secretsKeys: readonly string[];
  /** What signs the daily roots of the books: the first one, and beside it the others. Empty: a key of its own, or nothing is sealed. */
  readonly proofKeys: readonly string[];
  /** Where each root is appended as a line of JSON, an absolute path. Null: to no file. */
  readonly proofFile: string | null;
  /** The address that each root is mailed to. Null: none is mailed. */
  readonly proofMailTo: string | null;
  /** The address that each root is posted to as JSON. Null: to none. */
  readonly proofWebhookUrl: string | null;
  /** The folder with the files of archived usage, which the full audit compares; null: none. */
  readonly usageArchiveDir: string | null;
  /** How many months of usage records always stay in the database. */
  readonly usageKeepMonths: number;
  /** What backups are encrypted under: the first encrypts, all decrypt. Empty: none can be made or read. */
  readonly backupKeys: readonly string[];
  /** The folder that the log of the embedded database is received into. Null: it is not received. */
  readonly backupDir: string | null;
  /** Whether commits wait until their log is durable in that folder. */
  readonly backupSynchronous: boolean;
  /** Whether all people must have a second factor, and not only operators and owners of a production merchant. */
  readonly factorForAll: boolean;
  /** How many of our proxies are before the HTTP port. */
  readonly trustedProxies: number;
  /** Requests in any 60 seconds by kind of caller, and unknown credentials by network. 0: no limit. */
  readonly rates: {
    readonly person: number;
    readonly merchant: number;
    readonly service: number;
    readonly refusedCredentials: number;
  };
  /** Sandbox transfers that a merchant may order in a day. */
  readonly sandboxOrdersADay: number;
  /** Where new passwords are looked up among those of breaches. Null: nowhere. */
  readonly breachedPasswordsUrl: string | null;
  /** How long the log of callbacks is kept. */
  readonly callbackLogDays: number;
  /** How long posts of alerts are kept. */
  readonly webhookLogDays: number;
  /** How long lines of the security log are kept. */
  readonly securityLogDays: number;
  /** After how long a person is removed whose address was never verified. */
  readonly unverifiedDays: number;
  /** Milliseconds between two pieces of a streamed demo answer. */
  readonly demoPaceMs: number;
  readonly logLevel: LogLevel;
  /** Where traces go. Null: there are none. */
  readonly traces: TraceSettings | null;
  /** How long a stop waits for running requests. */
  readonly drainMs: number;
  /** How many answers whose client has left are read to their end at once. */
  readonly maxDrains: number;
  /** The silence of a stream after which a comment keeps its connection open. 0: never. */
  readonly keepAliveMs: number;
  /** The most MiB of request bodies that a process keeps while they arrive. */
  readonly bodyBudgetMib: number;
  /** How many bodies over 1 MiB one key may send to a process at once. */
  readonly uploadsPerKey: number;
  /** How many connections to the HTTP port a process keeps open. */
  readonly maxConnections: number;
  readonly payments: PaymentSettings;
  /** The chains of production transfers. */
  readonly chains: readonly ChainConfig[];
  /** What the signers of chains have in common. */
  readonly signers: SignerSettings;
  /** Above which sums, in rupiah and whole coins, a second operator approves a command. Null: never. */
  readonly secondPerson: { readonly above: Readonly<Record<string, string>> } | null;
  /** Whether sandbox merchants may have this machine called back, for trials. */
  readonly callbacksToLoopback: boolean;
  /** The hosts that merchants may have called; `*.` before a name means all names below it. Empty: any of the public internet. */
  readonly callbackHosts: readonly string[];
  /** The failpoint at which a test kills the process. Null: none. */
  readonly failpoint: FailpointSetting | null;
  /** A value of the environment by its name: upstream addresses and credentials, which stay out of the database. */
  readonly variable: (name: string) => string | undefined;
  /** The variables that settings were read from, for the workers of this node. */
  readonly variables: () => Record<string, string>;
  /** The environment without settings, for a program that is started: libraries find their own variables there, and no secret of ours. */
  readonly programEnvironment: () => Record<string, string>;
  /** What is better changed about the files that settings were read from, a sentence for each. */
  readonly fileAdvice: () => readonly string[];
};

export { ConfigError };

/** Reads the configuration of this process, and takes what was read out of its environment. Errors: ConfigError. */
export function takeConfig(): Config {
  const config = readConfig(process.env);
  forgetSettings(process.env, config.variables());
  return config;
}

/** Reads the configuration. Errors: ConfigError. */
export function readConfig(environment: Environment = process.env, settings = openSettings(environment)): Config {
  const read = readersOf(settings);
  const { text, integer, choice, choices, hostPatterns, url, databaseUrl, secrets, failpoint, providerUrl } = read;
  const port = { min: 0, max: 65_535 };
  const rate = { min: 0, max: 1_000_000 };
  const production = text("NODE_ENV") === "production";
  const dataDir = resolve(text("SALDO_DATA_DIR") ?? DATA_DIR);
  // A demo gives away keys: production has to ask for it.
  const demo = choice("SALDO_DEMO", production ? "0" : "1", ["0", "1"]) === "1";
  const paymentSettings = readPayments(read, { demo, production });
  const httpTls = tlsFiles(text("SALDO_HTTP_TLS_CERT"), text("SALDO_HTTP_TLS_KEY"), "SALDO_HTTP_TLS");
  if (httpTls !== null && paymentSettings.sandbox)
    throw new ConfigError("SALDO_HTTP_TLS_CERT needs another SALDO_PAYMENT_PROVIDER: the sandbox calls by http");
  const callbacksToLoopback = choice("SALDO_CALLBACKS_TO_LOOPBACK", "0", ["0", "1"]) === "1";
  const chains = readChains(read);
  // A merchant could reach every server of this machine by a callback.
  if (callbacksToLoopback && !demo) throw new ConfigError("SALDO_CALLBACKS_TO_LOOPBACK may be 1 only in a demo");

  const backupDir = readBackupDir(read);
  const backupSynchronous = choice("SALDO_BACKUP_SYNCHRONOUS", "0", ["0", "1"]) === "1";
  if (backupSynchronous && backupDir === null) throw new ConfigError("SALDO_BACKUP_SYNCHRONOUS needs SALDO_BACKUP_DIR");

  const cellSettings = readCells(read);
  // The standby of each cell would have to be watched, and waited for at a start, apart from the others.
  if (cellSettings.cells.length > 0 && (backupSynchronous || text("SALDO_REQUIRE_SYNC_STANDBY") === "1"))
    throw new ConfigError(
      "SALDO_CELLS does not go together with SALDO_REQUIRE_SYNC_STANDBY or SALDO_BACKUP_SYNCHRONOUS yet",
    );

  return {
    host: text("SALDO_HOST") ?? "127.0.0.1",
    grpcHost: text("SALDO_GRPC_HOST") ?? "127.0.0.1",
    metricsHost: text("SALDO_METRICS_HOST") ?? "127.0.0.1",
    httpTls,
    grpcTls: tlsFiles(text("SALDO_GRPC_TLS_CERT"), text("SALDO_GRPC_TLS_KEY"), "SALDO_GRPC_TLS"),
    metricsTls: tlsFiles(text("SALDO_METRICS_TLS_CERT"), text("SALDO_METRICS_TLS_KEY"), "SALDO_METRICS_TLS"),
    httpPort: integer("SALDO_HTTP_PORT", 3000, port),
    grpcPort: integer("SALDO_GRPC_PORT", 3001, port),
    grpcReflection: choice("SALDO_GRPC_REFLECTION", production ? "0" : "1", ["0", "1"]) === "1",
    metricsPort: integer("SALDO_METRICS_PORT", 9464, port),
    publicUrl: url("SALDO_PUBLIC_URL", ["http:", "https:"])?.replace(/(?<!\/)\/+$/, "") ?? null,
    dataDir,
    payoutJournalDir: resolve(text("SALDO_PAYOUT_JOURNAL_DIR") ?? join(dataDir, "payout-journal")),
    databaseUrl: databaseUrl("DATABASE_URL"),
    databaseOwnerUrl: databaseUrl("DATABASE_OWNER_URL"),
    databaseRequestUrl: readRequestUrl(read),
    databaseReadUrl: readReadUrl(read),
    maxReadLagMs: integer("SALDO_READ_LAG_SECONDS", 60, { min: 5, max: 3_600 }) * 1_000,
    ...cellSettings,
    requireSyncStandby: backupSynchronous || choice("SALDO_REQUIRE_SYNC_STANDBY", "0", ["0", "1"]) === "1",
    lanes: integer("SALDO_LANES", 1, { min: 1, max: 16 }),
    poolSize: integer("SALDO_POOL_SIZE", 10, { min: 4, max: 200 }),
    requestPoolSize: integer("SALDO_REQUEST_POOL_SIZE", 5, { min: 2, max: 200 }),
    workers: integer("SALDO_WORKERS", 1, { min: 1, max: 16 }),
    demo,
    production,
    demoAllows: choices("SALDO_DEMO_ALLOW", DEMO_ALLOWANCES),
    cleartextAllows: choices("SALDO_CLEARTEXT_ALLOW", CLEARTEXT_ALLOWANCES),
    smtpUrl: url("SMTP_URL", ["smtp:", "smtps:"]),
    mailFrom: text("SMTP_FROM") ?? "Saldo <saldo@localhost>",
    authSecrets: secrets("SALDO_AUTH_SECRET"),
    secretsKeys: secrets("SALDO_SECRETS_KEY"),
    proofKeys: secrets("SALDO_PROOF_KEY"),
    proofFile: pathOf(text("SALDO_PROOF_FILE")),
    proofMailTo: text("SALDO_PROOF_MAIL_TO"),
    proofWebhookUrl: providerUrl("SALDO_PROOF_WEBHOOK_URL", "") || null,
    usageArchiveDir: pathOf(text("SALDO_USAGE_ARCHIVE_DIR")),
    usageKeepMonths: integer("SALDO_USAGE_KEEP_MONTHS", 13, { min: 3, max: 1_200 }),
    backupKeys: secrets("SALDO_BACKUP_KEY"),
    backupDir,
    backupSynchronous,
    factorForAll: choice("SALDO_SECOND_FACTOR", "operators", ["operators", "everybody"]) === "everybody",
    trustedProxies: integer("SALDO_TRUSTED_PROXIES", 0, { min: 0, max: 8 }),
    rates: {
      person: integer("SALDO_RATE_PERSON", 600, rate),
      merchant: integer("SALDO_RATE_MERCHANT", 600, rate),
      service: integer("SALDO_RATE_SERVICE", 6_000, rate),
      refusedCredentials: integer("SALDO_RATE_REFUSED_CREDENTIALS", 120, rate),
    },
    sandboxOrdersADay: integer("SALDO_SANDBOX_ORDERS_A_DAY", 1_000, { min: 1, max: 1_000_000 }),
    breachedPasswordsUrl: providerUrl("SALDO_BREACHED_PASSWORDS_URL", "") || null,
    callbackLogDays: integer("SALDO_CALLBACK_LOG_DAYS", 400, { min: 90, max: 36_500 }),
    webhookLogDays: integer("SALDO_WEBHOOK_LOG_DAYS", 400, { min: 90, max: 36_500 }),
    securityLogDays: integer("SALDO_SECURITY_LOG_DAYS", 90, { min: 7, max: 3_650 }),
    unverifiedDays: integer("SALDO_UNVERIFIED_DAYS", 7, { min: 1, max: 365 }),
    demoPaceMs: integer("SALDO_DEMO_PACE_MS", 20, { min: 0, max: 10_000 }),
    logLevel: choice("SALDO_LOG_LEVEL", "info", LOG_LEVELS),
    traces: readTraces(read),
    drainMs: integer("SALDO_DRAIN_SECONDS", 20, { min: 0, max: 3_600 }) * 1_000,
    maxDrains: integer("SALDO_MAX_DRAINS", 256, { min: 0, max: 100_000 }),
    keepAliveMs: integer("SALDO_KEEP_ALIVE_SECONDS", 30, { min: 0, max: 3_600 }) * 1_000,
    bodyBudgetMib: integer("SALDO_BODY_BUDGET_MIB", 256, { min: 64, max: 65_536 }),
    uploadsPerKey: integer("SALDO_UPLOADS_PER_KEY", 8, { min: 1, max: 10_000 }),
    maxConnections: integer("SALDO_MAX_CONNECTIONS", 10_000, { min: 1, max: 1_000_000 }),
    payments: paymentSettings,
    chains,
    signers: readSigners(read, new Set(chains.map(({ signer }) => signer?.kind ?? "local"))),
    secondPerson: readSecondPerson(read, { production }),
    callbacksToLoopback,
    failpoint: failpoint("SALDO_FAILPOINT"),
    variable: (name) => text(name) ?? undefined,
    variables: () => settings.variables(),
    programEnvironment: () => withoutSettings(environment, settings.variables()),
    fileAdvice: () => settings.advice(),
    callbackHosts: hostPatterns("SALDO_CALLBACK_HOSTS"),
  };
}

/** What one operator may command alone in production, in rupiah and whole coins. */
const SECOND_PERSON_ABOVE = {
  IDR: "5000000",
  USDT: "5000",
  USDC: "5000",
  ETH: "1.5",
  BNB: "7.5",
  BTC: "0.05",
  LTC: "50",
  SOL: "30",
  TRX: "15000",
};

/** `none`: one operator is enough for everything. Unset outside production means the same. */
function readSecondPerson(
  read: Pick<SettingReaders, "text" | "wrong">,
  { production }: { production: boolean },
): Config["secondPerson"] {
  const value = read.text("SALDO_SECOND_PERSON_ABOVE");
  if (value === "none" || (value === null && !production)) return null;
  return { above: readAmounts("SALDO_SECOND_PERSON_ABOVE", read, SECOND_PERSON_ABOVE) };
}

function pathOf(path: string | null): string | null {
  return path === null ? null : resolve(path);
}

/** Errors: ConfigError, where there is no server of ours: the embedded one has the login already. */
function readRequestUrl({ databaseUrl }: Pick<SettingReaders, "databaseUrl">): string | null {
  const url = databaseUrl("DATABASE_REQUEST_URL");
  if (url !== null && databaseUrl("DATABASE_URL") === null)
    throw new ConfigError("DATABASE_REQUEST_URL needs DATABASE_URL: the embedded database has that login by itself");
  return url;
}

/** Errors: ConfigError, where there is no primary beside it, or it names several servers. */
function readReadUrl({ databaseUrl }: Pick<SettingReaders, "databaseUrl">): string | null {
  const url = databaseUrl("DATABASE_READ_URL");
  if (url === null) return null;
  if (databaseUrl("DATABASE_URL") === null) throw new ConfigError("DATABASE_READ_URL needs DATABASE_URL, its primary");
  if (addressesOf(url).length > 1)
    throw new ConfigError("DATABASE_READ_URL must name one server, such as the replicas' port of a proxy");
  return url;
}

/** Errors: ConfigError, where the log cannot be received or not be encrypted. */
function readBackupDir({ text }: Pick<SettingReaders, "text">): string | null {
  const folder = text("SALDO_BACKUP_DIR");
  if (folder === null) return null;
  if (text("DATABASE_URL") !== null)
    throw new ConfigError("SALDO_BACKUP_DIR is for the embedded database: DATABASE_URL must not be set");
  if (text("SALDO_BACKUP_KEY") === null) throw new ConfigError("SALDO_BACKUP_DIR needs SALDO_BACKUP_KEY");
  return resolve(folder);
}

/** The files of a certificate and its key. Null: neither is set. Errors: ConfigError. */
function tlsFiles(certFile: string | null, keyFile: string | null, prefix: string): TlsFiles | null {
  if (certFile === null && keyFile === null) return null;
  if (certFile === null || keyFile === null)
    throw new ConfigError(`${prefix}_CERT and ${prefix}_KEY must be set together`);
  return { certFile: resolve(certFile), keyFile: resolve(keyFile) };
}
