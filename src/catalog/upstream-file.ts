import type { OutputCapField, UpstreamConfig, UpstreamKind } from "./catalog-model.ts";
import type { FileField } from "./file-field.ts";
import { kindOfHost } from "../outbound/public-address.ts";

/** How long an upstream may take by default. Models that think send their first byte late. */
export const DEFAULT_TIMEOUTS_MS = { connect: 5_000, firstByte: 120_000, idle: 60_000 } as const;

/** The kinds that a file may name: those that the gateway has an adapter for. */
const KINDS = [
  "openai-compatible",
  "openai-responses",
  "anthropic",
  "gemini",
  "demo",
] as const satisfies readonly UpstreamKind[];
const CAP_FIELDS = ["max_tokens", "max_completion_tokens"] as const satisfies readonly OutputCapField[];
const UPSTREAM_ID = /^[a-z0-9][a-z0-9._-]*$/;
// The publisher of a catalog chooses where the value of this variable is sent. So it may be none that this service has for
// itself: those of payment providers are recognized by their names, and app/config/chains.ts takes no wallet's key from a name
// that ends like this. A credential written here by mistake is unlikely to look like one.
const KEY_VARIABLE = /^(?!SALDO_|MIDTRANS_|XENDIT_)[A-Z_][A-Z0-9_]*_API_KEY$/;
/** How long any time-out of the file may be. */
export const TIMEOUT_RANGE_MS = { min: 100, max: 600_000 };
/** The base URL of the upstream in our own process. */
const DEMO_BASE_URL = "demo:";

/** What is known of an upstream by its host: the names of its fields, and what it charges for. */
export type HostFacts = Required<Pick<UpstreamConfig, "outputCapField" | "chargesCacheWrites">>;

const ANY_HOST: HostFacts = { outputCapField: "max_tokens", chargesCacheWrites: false };
/** Every other upstream reads `max_tokens`, the older name; several read nothing else, and Mistral refuses the newer one. */
const HOST_FACTS: ReadonlyMap<string, HostFacts> = new Map([
  // Its newest models refuse the older name, and charge for cache writes.
  ["api.openai.com", { outputCapField: "max_completion_tokens", chargesCacheWrites: true }],
  // It does not respect the older name (vercel/ai, pull request 11202).
  ["api.x.ai", { outputCapField: "max_completion_tokens", chargesCacheWrites: false }],
  // It passes `cache_control` on to providers that charge for writes.
  ["openrouter.ai", { outputCapField: "max_tokens", chargesCacheWrites: true }],
]);

/** What an upstream of this kind and address reads and charges for unless the operator sets something else. */
export function usualFactsOf({ kind, baseUrl }: Pick<UpstreamConfig, "kind" | "baseUrl">): HostFacts {
  const facts = HOST_FACTS.get(URL.parse(baseUrl)?.hostname ?? "") ?? ANY_HOST;
  return kind === "anthropic" ? { ...facts, chargesCacheWrites: true } : facts;
}

/** The kinds whose own protocol has service tiers. Of the servers of chat only some know them, and others refuse the field. */
const KINDS_WITH_TIERS: ReadonlySet<UpstreamKind> = new Set(["anthropic", "openai-responses"]);

/** Whether an upstream of this kind and address knows `service_tier`, unless the operator sets something else. */
function usuallyTakesTier({ kind, baseUrl }: Pick<UpstreamConfig, "kind" | "baseUrl">): boolean {
  return KINDS_WITH_TIERS.has(kind) || URL.parse(baseUrl)?.hostname === "api.openai.com";
}

/** Whether requests to an upstream name their service tier. */
export function takesServiceTier(upstream: Pick<UpstreamConfig, "kind" | "baseUrl" | "takesServiceTier">): boolean {
  return upstream.takesServiceTier ?? usuallyTakesTier(upstream);
}

/** Whether an upstream may be given the value of an environment variable as its credential. */
export function isKeyVariable(name: string): boolean {
  return KEY_VARIABLE.test(name);
}

/** Reads one upstream of the file. Null: it is no mapping, which is noted. */
export function readUpstream(field: FileField): UpstreamConfig | null {
  const at = field.mapping([
    "id",
    "kind",
    "base_url",
    "api_key_env",
    "allow_private_address",
    "connect_timeout_ms",
    "first_byte_timeout_ms",
    "idle_timeout_ms",
    "output_cap_field",
    "charges_cache_writes",
    "takes_service_tier",
  ]);
  if (at === null) return null;
  const kind = at.kind.oneOf(KINDS, "openai-compatible") ?? "openai-compatible";
  const allowPrivateAddress = at.allow_private_address.flag(false);
  const baseUrl = readBaseUrl(at.base_url, { kind, allowPrivateAddress });
  const usual = usualFactsOf({ kind, baseUrl });
  const usualTier = usuallyTakesTier({ kind, baseUrl });
  const takesTier = at.takes_service_tier.flag(usualTier);
  return {
    id: at.id.text({ max: 64, pattern: UPSTREAM_ID, rule: "small letters, digits and . _ -" }),
    kind,
    baseUrl,
    apiKeyEnv: at.api_key_env.isAbsent
      ? null
      : at.api_key_env.text({
          max: 100,
          pattern: KEY_VARIABLE,
          rule: "the name of an environment variable in capitals that ends in _API_KEY and is none of this service's own",
        }),
    allowPrivateAddress,
    connectTimeoutMs: at.connect_timeout_ms.integer({ ...TIMEOUT_RANGE_MS, fallback: DEFAULT_TIMEOUTS_MS.connect }),
    firstByteTimeoutMs: at.first_byte_timeout_ms.integer({
      ...TIMEOUT_RANGE_MS,
      fallback: DEFAULT_TIMEOUTS_MS.firstByte,
    }),
    idleTimeoutMs: at.idle_timeout_ms.integer({ ...TIMEOUT_RANGE_MS, fallback: DEFAULT_TIMEOUTS_MS.idle }),
    ...unusualFacts({
      outputCapField: at.output_cap_field.oneOf(CAP_FIELDS, usual.outputCapField) ?? usual.outputCapField,
      chargesCacheWrites: at.charges_cache_writes.flag(usual.chargesCacheWrites),
    }),
    ...(takesTier === usualTier ? {} : { takesServiceTier: takesTier }),
  };
}

/** The facts of an upstream's configuration: those that are left out are those of any host. */
export function unusualFacts({ outputCapField, chargesCacheWrites }: HostFacts): Partial<HostFacts> {
  return {
    ...(outputCapField === ANY_HOST.outputCapField ? {} : { outputCapField }),
    ...(chargesCacheWrites === ANY_HOST.chargesCacheWrites ? {} : { chargesCacheWrites }),
  };
}

/** An upstream in the words of the file. */
export function writeUpstream(upstream: UpstreamConfig) {
  const { connect, firstByte, idle } = DEFAULT_TIMEOUTS_MS;
  const usual = usualFactsOf(upstream);
  const { outputCapField, chargesCacheWrites } = { ...ANY_HOST, ...upstream };
  return {
    id: upstream.id,
    kind: upstream.kind,
    ...(upstream.kind === "demo" ? {} : { base_url: upstream.baseUrl }),
    ...(upstream.apiKeyEnv === null ? {} : { api_key_env: upstream.apiKeyEnv }),
    ...(upstream.allowPrivateAddress ? { allow_private_address: true } : {}),
    ...(upstream.connectTimeoutMs === connect ? {} : { connect_timeout_ms: upstream.connectTimeoutMs }),
    ...(upstream.firstByteTimeoutMs === firstByte ? {} : { first_byte_timeout_ms: upstream.firstByteTimeoutMs }),
    ...(upstream.idleTimeoutMs === idle ? {} : { idle_timeout_ms: upstream.idleTimeoutMs }),
    ...(outputCapField === usual.outputCapField ? {} : { output_cap_field: outputCapField }),
    ...(chargesCacheWrites === usual.chargesCacheWrites ? {} : { charges_cache_writes: chargesCacheWrites }),
    ...(upstream.takesServiceTier === undefined ? {} : { takes_service_tier: upstream.takesServiceTier }),
  };
}

/** A base URL without the slash at its end. What its name resolves to is checked where connections are made. */
function readBaseUrl(
  field: FileField,
  { kind, allowPrivateAddress }: Pick<UpstreamConfig, "kind" | "allowPrivateAddress">,
): string {
  if (kind === "demo") {
    if (!field.isAbsent) field.note("base_url.demo", "must be left out for the kind demo");
    return DEMO_BASE_URL;
  }
  const text = field.text({ max: 500 });
  if (text === "") return "";
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    field.note("base_url.form", "must be a URL that begins with https:// or http://");
    return "";
  }
  if (url.username !== "" || url.password !== "") {
    field.note("base_url.credentials", "must hold no credentials; name an environment variable in api_key_env");
  }
  if (url.search !== "" || url.hash !== "") field.note("base_url.query", "must have no query and no fragment");
  const host = kindOfHost(url.hostname);
  if (host === "private" && !allowPrivateAddress) {
    field.note("base_url.private", "is a private address, which needs allow_private_address: true");
  }
  if (url.protocol === "http:" && (host === "public" || !allowPrivateAddress)) {
    field.note("base_url.https", "must be https, unless it is a private address with allow_private_address: true");
  }
  return text.replace(/(?<!\/)\/+$/, "");
}
