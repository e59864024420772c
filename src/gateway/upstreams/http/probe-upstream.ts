// Asks an upstream for the list of its models, which costs nothing: whether it is there and takes our credential.

import { request, Agent, buildConnector } from "undici";
import type { UpstreamConfig, UpstreamKind } from "../../../catalog/catalog-model.ts";
import { publicConnector } from "../../../outbound/public-connector.ts";

/** `refused`: it does not take the credential. `unlisted`: it has no list of models, so the credential was not tried. */
type Outcome = "fine" | "refused" | "unlisted" | "busy" | "failed";

export type UpstreamAnswer = {
  readonly outcome: Outcome;
  readonly status: number;
  /** The upstream's clock, from the answer's `date`. Null: the answer has none. */
  readonly date: Date | null;
};

/** Paths at which a wrong credential is refused, where the list of models is given to everyone. */
const OWN_PATHS: Readonly<Record<string, string>> = { "openrouter.ai": "/key" };
const ANTHROPIC_VERSION = "2023-06-01";

type Credential = (apiKey: string) => Readonly<Record<string, string>>;
const bearer: Credential = (apiKey) => ({ authorization: `Bearer ${apiKey}` });
const CREDENTIALS: Readonly<Record<UpstreamKind, Credential>> = {
  "openai-compatible": bearer,
  "openai-responses": bearer,
  anthropic: (apiKey) => ({ "x-api-key": apiKey }),
  gemini: (apiKey) => ({ "x-goog-api-key": apiKey }),
  demo: () => ({}),
};

/** Asks once, and follows no redirect. Errors: those of the connection. */
export async function probeUpstream(
  { kind, baseUrl, allowPrivateAddress }: Pick<UpstreamConfig, "kind" | "baseUrl" | "allowPrivateAddress">,
  { apiKey, withinMs }: { readonly apiKey: string | null; readonly withinMs: number },
): Promise<UpstreamAnswer> {
  const connect = allowPrivateAddress
    ? buildConnector({ timeout: withinMs })
    : publicConnector({ timeoutMs: withinMs });
  const agent = new Agent({ connect, pipelining: 0 });
  try {
    const { statusCode, headers, body } = await request(urlOf(kind, baseUrl), {
      dispatcher: agent,
      headers: {
        accept: "application/json",
        "user-agent": "saldo",
        ...(kind === "anthropic" ? { "anthropic-version": ANTHROPIC_VERSION } : {}),
        ...(apiKey === null ? {} : CREDENTIALS[kind](apiKey)),
      },
      signal: AbortSignal.timeout(withinMs),
    });
    body.on("error", () => {}).destroy();
    const date = typeof headers.date === "string" ? new Date(headers.date) : null;
    return {
      outcome: outcomeOf(statusCode, kind),
      status: statusCode,
      date: date === null || Number.isNaN(date.getTime()) ? null : date,
    };
  } finally {
    await agent.destroy();
  }
}

const REFUSED: ReadonlySet<number> = new Set([401, 403]);
/** To Gemini a wrong key is a wrong request. */
const GEMINI_REFUSED = 400;
const UNLISTED: ReadonlySet<number> = new Set([404, 405, 501]);
const BUSY = 429;

function outcomeOf(status: number, kind: UpstreamKind): Outcome {
  if (status >= 200 && status < 300) return "fine";
  if (REFUSED.has(status) || (kind === "gemini" && status === GEMINI_REFUSED)) return "refused";
  return UNLISTED.has(status) ? "unlisted" : status === BUSY ? "busy" : "failed";
}

function urlOf(kind: UpstreamKind, baseUrl: string): string {
  const base = baseUrl.replace(/(?<!\/)\/+$/, "");
  const { hostname } = new URL(base);
  if (kind === "anthropic" && !base.endsWith("/v1")) return `${base}/v1/models`;
  return `${base}${OWN_PATHS[hostname] ?? "/models"}`;
}
