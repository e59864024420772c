// What a start refuses, because money or credentials would lie open: a demo beyond this machine, and secrets in clear on a
// network. Each can be allowed by a named switch. Commands are not refused: they open no port.

import type { Config } from "./config.ts";
import { addressesOf } from "../../kernel/database-hosts.ts";
import { isLoopbackHost } from "../../kernel/loopback.ts";
import type { CleartextAllowance, DemoAllowance } from "./allowances.ts";

/** The settings of a database URL that make pg refuse a connection without TLS and a certificate it trusts. */
const SAFE_SSL_MODES = new Set(["require", "verify-ca", "verify-full"]);

/** Why a start must be refused, a line for each reason: it would lay money or credentials open. Empty: it need not be. */
export function safetyProblems(config: Config): readonly string[] {
  return [
    ...(config.demo ? demoProblems(config) : []),
    ...trials(config),
    ...(config.production ? [...missingSecrets(config), ...cleartextProblems(config)] : []),
  ];
}

function demoProblems({ host, databaseUrl, cells, chains, demoAllows }: Config): string[] {
  const risks: readonly (readonly [DemoAllowance, boolean, string])[] = [
    ["host", !isLoopbackHost(host), "SALDO_HOST opens the demo to other machines, and a demo hands out credentials"],
    ["database", databaseUrl !== null, "DATABASE_URL names a database, which a demo fills with play money"],
    ["database", cells.length > 0, "SALDO_CELLS names databases, which a demo fills with play money"],
    ["chains", chains.length > 0, "a chain is configured, and a demo would pay play money out of its wallet"],
  ];
  return risks
    .filter(([allowance, isRisk]) => isRisk && !demoAllows.has(allowance))
    .map(([allowance, , risk]) => `${risk}. Set SALDO_DEMO=0, or allow it: SALDO_DEMO_ALLOW=${allowance}`);
}

function missingSecrets({ authSecrets, secretsKeys }: Config): string[] {
  const how = "32 random characters or more (openssl rand -base64 48)";
  return [
    ...(authSecrets.length === 0 ? [`SALDO_AUTH_SECRET is required in production: ${how}`] : []),
    ...(secretsKeys.length === 0 ? [`SALDO_SECRETS_KEY is required in production: ${how}`] : []),
  ];
}

/** A start that is no demo makes its database production's, and a demo does not start on one of production's. */
function trials({ failpoint, demo, production }: Config): string[] {
  return failpoint === null || (demo && !production)
    ? []
    : ["SALDO_FAILPOINT kills this process: it is for tests of crashes, in a demo outside production"];
}

function cleartextProblems(config: Config): string[] {
  const {
    smtpUrl,
    chains,
    databaseUrl,
    databaseOwnerUrl,
    databaseRequestUrl,
    databaseReadUrl,
    cells,
    publicUrl,
    cleartextAllows,
  } = config;
  const { host, httpTls, grpcHost, grpcTls, metricsHost, metricsTls } = config;
  const risks: readonly (readonly [CleartextAllowance, boolean, string])[] = [
    [
      "mail",
      smtpUrl !== null && isClearMail(smtpUrl),
      "SMTP_URL: mails hold links that sign in. Use smtps://, or smtp://…?requireTLS=true",
    ],
    [
      "chains",
      chains.some(({ rpcUrl, second }) => isClearHttp(rpcUrl) || (second !== null && isClearHttp(second.rpcUrl))),
      "the node of a chain: its answers decide about payouts. Use https://",
    ],
    [
      "database",
      [databaseUrl, databaseOwnerUrl, databaseRequestUrl, databaseReadUrl].some(isClearDatabase),
      "DATABASE_URL: add sslmode=verify-full",
    ],
    [
      "database",
      cells.some(({ url, ownerUrl, requestUrl }) => [url, ownerUrl, requestUrl].some(isClearDatabase)),
      "SALDO_CELLS: add sslmode=verify-full",
    ],
    [
      "http",
      httpTls === null && !isLoopbackHost(host),
      "SALDO_HOST: requests carry keys and cookies. Set SALDO_HTTP_TLS_CERT and SALDO_HTTP_TLS_KEY",
    ],
    [
      "grpc",
      grpcTls === null && !isLoopbackHost(grpcHost),
      "SALDO_GRPC_HOST: calls carry tokens. Set SALDO_GRPC_TLS_CERT and SALDO_GRPC_TLS_KEY",
    ],
    [
      "metrics",
      metricsTls === null && !isLoopbackHost(metricsHost),
      "SALDO_METRICS_HOST: metrics show balances of wallets. Set SALDO_METRICS_TLS_CERT and SALDO_METRICS_TLS_KEY",
    ],
    [
      "public-url",
      publicUrl !== null && isClearHttp(publicUrl),
      "SALDO_PUBLIC_URL: browsers send session cookies there. Use https://",
    ],
  ];
  return risks
    .filter(([allowance, isRisk]) => isRisk && !cleartextAllows.has(allowance))
    .map(([allowance, , risk]) => `Unencrypted: ${risk}; or allow it: SALDO_CLEARTEXT_ALLOW=${allowance}`);
}

function isClearHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopbackHost(hostname);
}

function isClearMail(url: string): boolean {
  const { protocol, hostname, searchParams } = new URL(url);
  return protocol === "smtp:" && searchParams.get("requireTLS") !== "true" && !isLoopbackHost(hostname);
}

function isClearDatabase(url: string | null): boolean {
  return url !== null && addressesOf(url).some(isClearServer);
}

function isClearServer(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  // An empty host and a path are a socket of this machine.
  if (host === "" || host.startsWith("/") || isLoopbackHost(host)) return false;
  return !SAFE_SSL_MODES.has(searchParams.get("sslmode") ?? "");
}
