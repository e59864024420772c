// What a start may be allowed that it otherwise refuses.

/** What SALDO_DEMO_ALLOW can name. */
export const DEMO_ALLOWANCES = ["host", "database", "upstreams", "chains"] as const;

export type DemoAllowance = (typeof DEMO_ALLOWANCES)[number];

/** What SALDO_CLEARTEXT_ALLOW can name. */
export const CLEARTEXT_ALLOWANCES = ["mail", "chains", "database", "http", "grpc", "metrics", "public-url"] as const;

export type CleartextAllowance = (typeof CLEARTEXT_ALLOWANCES)[number];
