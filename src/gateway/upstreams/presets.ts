// Well-known upstreams. Setting the variable of one is enough to have it; its models enter the catalog by YAML.

import type { UpstreamConfig, UpstreamKind } from "../../catalog/catalog-model.ts";
import { DEFAULT_TIMEOUTS_MS, unusualFacts, usualFactsOf } from "../../catalog/upstream-file.ts";

/** An upstream that is added by its credential, at its public address. */
type HostedPreset = {
  readonly id: string;
  /** The name under which everyone knows it. */
  readonly publicName: string;
  readonly apiKeyEnv: string;
  readonly baseUrl: string;
  /** Absent: chat completions. */
  readonly kind?: UpstreamKind;
};
/** An upstream that is added by its address, because operators run their own. It may be in our network. */
type OwnPreset = {
  readonly id: string;
  readonly baseUrlEnv: string;
  readonly apiKeyEnv: string;
  readonly path: string;
};

const HOSTED: readonly HostedPreset[] = [
  { id: "openai", publicName: "OpenAI", apiKeyEnv: "OPENAI_API_KEY", baseUrl: "https://api.openai.com/v1" },
  {
    id: "openai-responses",
    publicName: "OpenAI",
    apiKeyEnv: "OPENAI_API_KEY",
    baseUrl: "https://api.openai.com/v1",
    kind: "openai-responses",
  },
  {
    id: "anthropic",
    publicName: "Anthropic",
    apiKeyEnv: "ANTHROPIC_API_KEY",
    baseUrl: "https://api.anthropic.com",
    kind: "anthropic",
  },
  {
    id: "openrouter",
    publicName: "OpenRouter",
    apiKeyEnv: "OPENROUTER_API_KEY",
    baseUrl: "https://openrouter.ai/api/v1",
  },
  { id: "deepseek", publicName: "DeepSeek", apiKeyEnv: "DEEPSEEK_API_KEY", baseUrl: "https://api.deepseek.com/v1" },
  { id: "groq", publicName: "Groq", apiKeyEnv: "GROQ_API_KEY", baseUrl: "https://api.groq.com/openai/v1" },
  { id: "mistral", publicName: "Mistral", apiKeyEnv: "MISTRAL_API_KEY", baseUrl: "https://api.mistral.ai/v1" },
  { id: "xai", publicName: "xAI", apiKeyEnv: "XAI_API_KEY", baseUrl: "https://api.x.ai/v1" },
  {
    id: "gemini",
    publicName: "Google",
    apiKeyEnv: "GEMINI_API_KEY",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    kind: "gemini",
  },
];

const OWN: readonly OwnPreset[] = [
  { id: "ollama", baseUrlEnv: "OLLAMA_BASE_URL", apiKeyEnv: "OLLAMA_API_KEY", path: "/v1" },
  { id: "vllm", baseUrlEnv: "VLLM_BASE_URL", apiKeyEnv: "VLLM_API_KEY", path: "/v1" },
];

/** Every environment variable the presets look at, for the list of settings. */
export const PRESET_VARIABLES: readonly string[] = [
  ...new Set(HOSTED.map((preset) => preset.apiKeyEnv)),
  ...OWN.flatMap((preset) => [preset.baseUrlEnv, preset.apiKeyEnv]),
];

/** The variable that adds a preset, or null where there is none of that id. */
export function presetVariableOf(id: string): string | null {
  const hosted = HOSTED.find((preset) => preset.id === id)?.apiKeyEnv;
  return hosted ?? OWN.find((preset) => preset.id === id)?.baseUrlEnv ?? null;
}

/** The name of an upstream that everyone may read; null: only its operator knows it. An id and an address are never one. */
export function publicNameOf({ kind, baseUrl }: Pick<UpstreamConfig, "kind" | "baseUrl">): string | null {
  if (kind === "demo") return "Demo";
  const host = URL.parse(baseUrl)?.host;
  return HOSTED.find((preset) => URL.parse(preset.baseUrl)?.host === host)?.publicName ?? null;
}

/** The upstreams whose variable is set. Errors: TypeError when a base URL is none. */
export function presetUpstreams(variable: (name: string) => string | undefined): UpstreamConfig[] {
  const isSet = (name: string): boolean => (variable(name) ?? "") !== "";
  const common = {
    kind: "openai-compatible",
    connectTimeoutMs: DEFAULT_TIMEOUTS_MS.connect,
    firstByteTimeoutMs: DEFAULT_TIMEOUTS_MS.firstByte,
    idleTimeoutMs: DEFAULT_TIMEOUTS_MS.idle,
  } as const;
  return [
    ...HOSTED.filter((preset) => isSet(preset.apiKeyEnv)).map(({ publicName: _publicName, ...preset }) => ({
      ...common,
      ...preset,
      ...unusualFacts(usualFactsOf({ ...common, ...preset })),
      allowPrivateAddress: false,
    })),
    ...OWN.filter((preset) => isSet(preset.baseUrlEnv)).map(({ id, baseUrlEnv, apiKeyEnv, path }) => ({
      ...common,
      id,
      baseUrl: withPath(variable(baseUrlEnv) ?? "", path),
      apiKeyEnv: isSet(apiKeyEnv) ? apiKeyEnv : null,
      allowPrivateAddress: true,
    })),
  ];
}

/** People give the address with or without `/v1`. */
function withPath(address: string, path: string): string {
  const url = new URL(address);
  if (url.pathname === "/") url.pathname = path;
  return url.href.replace(/(?<!\/)\/+$/, "");
}
