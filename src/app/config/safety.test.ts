import { expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { safetyProblems } from "./safety.ts";

const SECRETS = {
  SALDO_AUTH_SECRET: "a secret of a test that is long enough for what it signs",
  SALDO_SECRETS_KEY: "a key of a test that is long enough for what it encrypts",
};
const problemsOf = (environment: Record<string, string>): readonly string[] => safetyProblems(readConfig(environment));
const inProduction = (environment: Record<string, string>): readonly string[] =>
  problemsOf({ NODE_ENV: "production", ...SECRETS, ...environment });

it("accepts a demo without any setting, and production with its secrets", () => {
  expect(problemsOf({})).toEqual([]);
  expect(inProduction({})).toEqual([]);
  expect(problemsOf({ SALDO_DEMO: "0", SALDO_HOST: "0.0.0.0", DATABASE_URL: "postgres://db/x" })).toEqual([]);
});

it("refuses a place to die at where real money moves: outside a demo, and in production", () => {
  const refused = [expect.stringContaining("SALDO_FAILPOINT")];
  const armed = { SALDO_FAILPOINT: "mid-settle" };
  expect(problemsOf({ ...armed, SALDO_DEMO: "0" })).toEqual(refused);
  expect(inProduction(armed)).toEqual(refused);
  expect(inProduction({ ...armed, SALDO_DEMO: "1" })).toEqual(refused);
  expect(problemsOf(armed)).toEqual([]);
});

it("takes production for no demo, and hides its gRPC services", () => {
  expect(readConfig({ NODE_ENV: "production" })).toMatchObject({ demo: false, grpcReflection: false });
});

it.each([
  ["host", { SALDO_HOST: "0.0.0.0" }],
  ["host", { SALDO_HOST: "192.168.1.2" }],
  ["database", { DATABASE_URL: "postgres://localhost/saldo" }],
  ["chains", { SALDO_BSC_RPC_URL: "https://node.example", SALDO_BSC_KEY_VARIABLE: "WALLET", WALLET: "0x1" }],
] as [string, Record<string, string>][])(
  "refuses a demo its %s, and names the switch that allows it",
  (allowance, environment) => {
    const problems = problemsOf(environment);
    expect(problems).toEqual([expect.stringContaining(`SALDO_DEMO_ALLOW=${allowance}`)]);
    expect(problemsOf({ ...environment, SALDO_DEMO_ALLOW: `upstreams, ${allowance}` })).toEqual([]);
  },
);

it.each([
  ["mail", { SMTP_URL: "smtp://mail.example:587" }, { SMTP_URL: "smtp://mail.example:587?requireTLS=true" }],
  ["mail", { SMTP_URL: "smtp://user:pass@mail.example" }, { SMTP_URL: "smtps://user:pass@mail.example" }],
  [
    "chains",
    { SALDO_ETHEREUM_RPC_URL: "http://node.example", SALDO_ETHEREUM_KEY_VARIABLE: "WALLET", WALLET: "0x1" },
    { SALDO_ETHEREUM_RPC_URL: "http://127.0.0.1:8545", SALDO_ETHEREUM_KEY_VARIABLE: "WALLET", WALLET: "0x1" },
  ],
  [
    "database",
    { DATABASE_URL: "postgres://u@db.example/x" },
    { DATABASE_URL: "postgres://u@db.example/x?sslmode=verify-full" },
  ],
  [
    "database",
    { DATABASE_URL: "postgres://u@db.example/x?sslmode=prefer" },
    { DATABASE_URL: "postgres:///x?host=/run/postgresql" },
  ],
  [
    "database",
    { DATABASE_URL: "postgres:///x", DATABASE_READ_URL: "postgres://u@db.example/x" },
    { DATABASE_URL: "postgres:///x", DATABASE_READ_URL: "postgres://u@127.0.0.1/x" },
  ],
  ["database", { DATABASE_OWNER_URL: "postgres://u@db.example/x" }, { DATABASE_OWNER_URL: "postgres://u@127.0.0.1/x" }],
  [
    "grpc",
    { SALDO_GRPC_HOST: "0.0.0.0" },
    { SALDO_GRPC_HOST: "0.0.0.0", SALDO_GRPC_TLS_CERT: "c", SALDO_GRPC_TLS_KEY: "k" },
  ],
  ["http", { SALDO_HOST: "0.0.0.0" }, { SALDO_HOST: "0.0.0.0", SALDO_HTTP_TLS_CERT: "c", SALDO_HTTP_TLS_KEY: "k" }],
  [
    "metrics",
    { SALDO_METRICS_HOST: "10.0.0.2" },
    { SALDO_METRICS_HOST: "10.0.0.2", SALDO_METRICS_TLS_CERT: "c", SALDO_METRICS_TLS_KEY: "k" },
  ],
  ["public-url", { SALDO_PUBLIC_URL: "http://saldo.example" }, { SALDO_PUBLIC_URL: "https://saldo.example" }],
])("refuses production unencrypted %s, and names the switch that allows it", (allowance, clear, encrypted) => {
  const environment = clear as Record<string, string>;
  expect(inProduction(environment)).toEqual([expect.stringContaining(`SALDO_CLEARTEXT_ALLOW=${allowance}`)]);
  expect(inProduction({ ...environment, SALDO_CLEARTEXT_ALLOW: allowance })).toEqual([]);
  expect(inProduction(encrypted as Record<string, string>)).toEqual([]);
  expect(problemsOf({ ...environment, SALDO_DEMO: "0" })).toEqual([]);
});

it("requires the secrets of production, and reports every problem at once", () => {
  const problems = problemsOf({ NODE_ENV: "production", SALDO_PUBLIC_URL: "http://saldo.example" });
  expect(problems).toEqual([
    expect.stringContaining("SALDO_AUTH_SECRET is required"),
    expect.stringContaining("SALDO_SECRETS_KEY is required"),
    expect.stringContaining("SALDO_PUBLIC_URL"),
  ]);
});

it("keeps gRPC and metrics on loopback at every address of the public port", () => {
  expect(readConfig({ SALDO_HOST: "0.0.0.0" })).toMatchObject({ grpcHost: "127.0.0.1", metricsHost: "127.0.0.1" });
  const hosts = { SALDO_GRPC_HOST: "10.0.0.1", SALDO_METRICS_HOST: "10.0.0.2" };
  expect(readConfig(hosts)).toMatchObject({ grpcHost: "10.0.0.1", metricsHost: "10.0.0.2" });
  for (const port of ["HTTP", "GRPC", "METRICS"])
    expect(() => readConfig({ [`SALDO_${port}_TLS_CERT`]: "c" })).toThrow(/set together/);
  const files = { SALDO_HTTP_TLS_CERT: "c", SALDO_HTTP_TLS_KEY: "k" };
  expect(() => readConfig(files)).toThrow(/SALDO_HTTP_TLS_CERT.*sandbox/);
  expect(readConfig({ ...files, SALDO_DEMO: "0" })).toMatchObject({
    httpTls: { keyFile: expect.stringMatching(/k$/) },
  });
  expect(() => readConfig({ SALDO_DEMO_ALLOW: "everything" })).toThrow(/SALDO_DEMO_ALLOW.*host, database/);
});
