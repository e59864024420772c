/** The environment of Saldo in a test: nothing of the test runner's own settings but what a program needs. */
export function environmentOf(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const always = { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_NO_WARNINGS: "1" };
  // A demo of a test has a database of the test, and upstreams that the test plays.
  return { ...always, SALDO_DEMO_ALLOW: "database,upstreams,chains", ...settings };
}

/** The settings of a service in a test, unless the test has others: free ports, and a demo that does not wait. */
export const SERVING_SETTINGS = {
  SALDO_HTTP_PORT: "0",
  SALDO_GRPC_PORT: "0",
  SALDO_METRICS_PORT: "0",
  SALDO_DEMO_PACE_MS: "0",
} as const;
