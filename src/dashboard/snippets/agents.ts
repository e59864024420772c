// The coding agents: the command that sets each one up, and a configuration for readers who prefer to write it
// themselves. `saldo-agents` writes more; this is the minimum that works.

import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { apiUrlOf, exportLine, KEY_VARIABLE, shellWord, type SnippetPlace } from "./code.ts";

/** A configuration file of an agent, with its content. */
export type AgentFile = { readonly path: string; readonly content: string };

/** A coding agent. */
export type CodingAgent = {
  /** Its name in `saldo-agents`. */
  readonly id: string;
  readonly name: string;
  /** It does not support references to variables: its file contains the key itself. */
  readonly needsKeyInFile?: boolean;
  /** Its base URL has no `/v1`. */
  readonly addsVersion?: boolean;
  readonly files: (model: Model, place: SnippetPlace) => readonly AgentFile[];
};

/** The command; it does not ask for anything that is already known. */
export function agentsCommand(agent: CodingAgent, model: Model, { origin, secret }: SnippetPlace): string {
  return [
    exportLine(secret),
    `npx -y ${origin}/saldo-agents.tgz apply -m ${shellWord(model.id)} --agents ${agent.id} -y${isOpenHttp(origin) ? " --insecure" : ""}`,
  ].join("\n");
}

/** The base URL for an agent. */
export function baseUrlOf({ addsVersion }: CodingAgent, origin: string): string {
  return addsVersion ? origin : apiUrlOf(origin);
}

/** The agents, in the command's own order. */
export const CODING_AGENTS: readonly CodingAgent[] = [
  {
    id: "opencode",
    name: "opencode",
    files: (model, place) => [{ path: "~/.config/opencode/opencode.json", content: json(namedProvider(model, place)) }],
  },
  {
    id: "kilo",
    name: "Kilo Code",
    files: (model, place) => [{ path: "~/.config/kilo/kilo.json", content: json(namedProvider(model, place)) }],
  },
  { id: "qwen", name: "Qwen Code", files: qwenFiles },
  { id: "cline", name: "Cline", needsKeyInFile: true, files: clineFiles },
  { id: "continue", name: "Continue", files: continueFiles },
  { id: "droid", name: "Factory Droid", files: droidFiles },
  { id: "kimi", name: "Kimi Code", files: kimiFiles },
  { id: "pi", name: "Pi", needsKeyInFile: true, files: piFiles },
  { id: "claude", name: "Claude Code", needsKeyInFile: true, addsVersion: true, files: claudeFiles },
  { id: "codex", name: "Codex", files: codexFiles },
  { id: "gemini", name: "Gemini CLI", needsKeyInFile: true, addsVersion: true, files: geminiFiles },
];

function namedProvider(model: Model, { origin }: SnippetPlace) {
  return {
    provider: {
      saldo: {
        npm: "@ai-sdk/openai-compatible",
        name: "Saldo",
        options: { baseURL: apiUrlOf(origin), apiKey: `{env:${KEY_VARIABLE}}` },
        models: {
          [model.id]: { name: model.name, limit: { context: model.contextLength, output: model.maxOutputTokens } },
        },
      },
    },
    model: `saldo/${model.id}`,
  };
}

function qwenFiles(model: Model, { origin }: SnippetPlace): AgentFile[] {
  const entry = { id: model.id, name: model.name, baseUrl: apiUrlOf(origin), envKey: KEY_VARIABLE };
  const content = {
    security: { auth: { selectedType: "openai" } },
    model: { name: model.id },
    modelProviders: { openai: [entry] },
  };
  return [{ path: "~/.qwen/settings.json", content: json(content) }];
}

function clineFiles(model: Model, place: SnippetPlace): AgentFile[] {
  const provider = "openai-compatible";
  const settings = { provider, apiKey: keyItself(place), model: model.id, baseUrl: apiUrlOf(place.origin) };
  const slot = { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" };
  const content = { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: slot } };
  return [{ path: "~/.cline/data/settings/providers.json", content: json(content) }];
}

function continueFiles(model: Model, { origin }: SnippetPlace): AgentFile[] {
  const content = [
    "name: Local Config",
    "version: 1.0.0",
    "schema: v1",
    "models:",
    `  - name: ${JSON.stringify(model.name)}`,
    "    provider: openai",
    `    model: ${JSON.stringify(model.id)}`,
    `    apiBase: ${JSON.stringify(apiUrlOf(origin))}`,
    `    apiKey: \${{ secrets.${KEY_VARIABLE} }}`,
    "    roles: [chat, edit, apply]",
  ];
  return [{ path: "~/.continue/config.yaml", content: content.join("\n") }];
}

function droidFiles(model: Model, { origin }: SnippetPlace): AgentFile[] {
  const id = `custom:saldo/${model.id}`;
  const entry = {
    id,
    model: model.id,
    displayName: model.name,
    baseUrl: apiUrlOf(origin),
    apiKey: `\${${KEY_VARIABLE}}`,
    provider: "generic-chat-completion-api",
    maxOutputTokens: model.maxOutputTokens,
  };
  return [{ path: "~/.factory/settings.json", content: json({ model: id, customModels: [entry] }) }];
}

function kimiFiles(model: Model, { origin }: SnippetPlace): AgentFile[] {
  const name = JSON.stringify(`saldo/${model.id}`);
  const content = [
    `default_model = ${name}`,
    "",
    "[providers.saldo]",
    'type = "openai"',
    `base_url = ${JSON.stringify(apiUrlOf(origin))}`,
    `api_key_env = "${KEY_VARIABLE}"`,
    "",
    `[models.${name}]`,
    'provider = "saldo"',
    `model = ${JSON.stringify(model.id)}`,
    `max_context_size = ${model.contextLength}`,
    `max_output_size = ${model.maxOutputTokens}`,
  ];
  return [{ path: "~/.kimi-code/config.toml", content: content.join("\n") }];
}

function piFiles(model: Model, place: SnippetPlace): AgentFile[] {
  const entry = {
    id: model.id,
    name: model.name,
    contextWindow: model.contextLength,
    maxTokens: model.maxOutputTokens,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  };
  const saldo = {
    baseUrl: apiUrlOf(place.origin),
    api: "openai-completions",
    apiKey: keyItself(place),
    models: [entry],
  };
  return [
    { path: "~/.pi/agent/models.json", content: json({ providers: { saldo } }) },
    { path: "~/.pi/agent/settings.json", content: json({ defaultProvider: "saldo", defaultModel: model.id }) },
  ];
}

function claudeFiles(model: Model, place: SnippetPlace): AgentFile[] {
  const names = ["", "DEFAULT_OPUS_", "DEFAULT_SONNET_", "DEFAULT_HAIKU_"].map((name) => `ANTHROPIC_${name}MODEL`);
  const env = {
    ANTHROPIC_BASE_URL: place.origin,
    ANTHROPIC_AUTH_TOKEN: keyItself(place),
    ANTHROPIC_API_KEY: "",
    ...Object.fromEntries(names.map((name) => [name, model.id])),
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(model.contextLength),
  };
  return [{ path: "~/.claude/settings.json", content: json({ env }) }];
}

function codexFiles(model: Model, { origin }: SnippetPlace): AgentFile[] {
  const content = [
    `model = ${JSON.stringify(model.id)}`,
    'model_provider = "saldo"',
    `model_context_window = ${model.contextLength}`,
    'web_search = "disabled"',
    "",
    "[model_providers.saldo]",
    'name = "Saldo"',
    `base_url = ${JSON.stringify(apiUrlOf(origin))}`,
    `env_key = "${KEY_VARIABLE}"`,
    'wire_api = "responses"',
    "request_max_retries = 1",
    "stream_max_retries = 1",
  ];
  return [{ path: "~/.codex/config.toml", content: content.join("\n") }];
}

function geminiFiles(model: Model, place: SnippetPlace): AgentFile[] {
  const variables = [`GOOGLE_GEMINI_BASE_URL="${place.origin}"`, `GEMINI_API_KEY="${keyItself(place)}"`];
  const content = { security: { auth: { selectedType: "gemini-api-key" } }, model: { name: model.id } };
  return [
    { path: "~/.gemini/.env", content: variables.join("\n") },
    { path: "~/.gemini/settings.json", content: json(content) },
  ];
}

function keyItself({ secret }: SnippetPlace): string {
  return secret ?? "gw_…";
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Plain http to another machine: the command refuses to send a key there without this option. */
function isOpenHttp(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
