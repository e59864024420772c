// Files as users have them before saldo-agents comes: for each agent one with another provider in it, and everything that
// can be odd about such a file.

import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

type Syntax = "json" | "strict json" | "yaml" | "toml" | "variables";

/** The files of each agent from the home folder, each with the text of a user of another provider. */
export const usersFiles: Readonly<Record<string, Readonly<Record<string, { syntax: Syntax; text: string }>>>> = {
  opencode: {
    ".config/opencode/opencode.json": json({
      $schema: "https://opencode.ai/config.json",
      theme: "dark",
      model: "other/large",
      provider: { other: { options: { baseURL: "https://other.test/v1" }, models: { large: {} } } },
    }),
  },
  kilo: {
    ".config/kilo/kilo.json": json({
      model: "other/large",
      provider: { other: { models: { large: {} } } },
      share: "manual",
    }),
  },
  qwen: {
    ".qwen/settings.json": json({
      env: { OTHER_KEY: "secret" },
      security: { auth: { selectedType: "qwen-oauth" } },
      model: { name: "large" },
      modelProviders: { openai: [{ id: "large", baseUrl: "https://other.test/v1", envKey: "OTHER_KEY" }] },
    }),
  },
  cline: {
    ".cline/data/settings/providers.json": {
      ...json({
        version: 1,
        lastUsedProvider: "anthropic",
        modes: {},
        providers: {
          anthropic: { settings: { provider: "anthropic", apiKey: "secret" }, tokenSource: "manual" },
          "openai-compatible": { settings: { provider: "openai-compatible", baseUrl: "https://other.test/v1" } },
        },
      }),
      syntax: "strict json",
    },
  },
  continue: {
    ".continue/config.yaml": {
      syntax: "yaml",
      text: "name: Mine\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Other\n    provider: openai\n    model: large\n    roles: [chat,]\ncontext:\n  - provider: code\n",
    },
  },
  droid: {
    ".factory/settings.json": json({
      model: "opus",
      customModels: [{ model: "large", displayName: "Other", baseUrl: "https://other.test/v1", apiKey: "secret" }],
      sounds: false,
    }),
  },
  kimi: {
    ".kimi-code/config.toml": {
      syntax: "toml",
      text: 'default_model = "other/large"\nroots = ["a", "b",]\n\n[providers.other]\ntype = "openai"\nbase_url = "https://other.test/v1"\n\n[models."other/large"]\nprovider = "other"\nmax_context_size = 1000\n',
    },
  },
  claude: {
    ".claude/settings.json": {
      ...json({
        model: "opus",
        env: { ANTHROPIC_BASE_URL: "https://other.test", ANTHROPIC_AUTH_TOKEN: "secret", MINE: "1" },
        permissions: { allow: ["Bash(ls)"] },
      }),
      syntax: "strict json",
    },
  },
  codex: {
    ".codex/config.toml": {
      syntax: "toml",
      text: 'model = "large"\nmodel_provider = "other"\nweb_search = "live"\nnotify = ["a", "b",]\n\n[model_providers.other]\nname = "Other"\nbase_url = "https://other.test/v1"\nwire_api = "responses"\n\n[tui]\ntheme = "dark"\n',
    },
  },
  gemini: {
    ".gemini/.env": {
      syntax: "variables",
      text: "GOOGLE_GEMINI_BASE_URL=https://other.test\nexport GEMINI_API_KEY='secret'\nMINE = \"two\\nlines\"\n",
    },
    ".gemini/settings.json": json({
      security: { auth: { selectedType: "oauth-personal" } },
      model: { name: "large", maxSessionTurns: 10 },
      modelConfigs: { customAliases: { classifier: { modelConfig: { model: "tiny" } } } },
      ui: { theme: "Dracula" },
    }),
  },
  pi: {
    ".pi/agent/models.json": json({
      providers: { other: { baseUrl: "https://other.test/v1", models: [{ id: "large" }] } },
    }),
    ".pi/agent/settings.json": json({ defaultProvider: "other", defaultModel: "large", theme: "light" }),
  },
};

/** What can be odd about a file. A text of null: there is no file; "as it is": another provider and nothing odd. */
export const startStates = {
  "no file": () => null,
  empty: () => "",
  "another provider": (text: string) => text,
  comments: (text: string, syntax: Syntax) => withComments(text, syntax),
  tabs: (text: string, syntax: Syntax) =>
    syntax === "yaml" ? text.replace("name: Mine", "name: Mine\t# tab") : text.replaceAll(/^( {2})+/gm, tabsFor),
  "nothing but comments": (_: string, syntax: Syntax) => (syntax.includes("json") ? "// mine\n" : "# mine\n"),
  CRLF: (text: string) => text.replaceAll("\n", "\r\n"),
  "mixed line ends": (text: string) => text.replaceAll(/\n(.*\n?)/g, "\r\n$1"),
  "byte-order mark": (text: string) => `\ufeff${text}`,
  "trailing commas": (text: string, syntax: Syntax) =>
    syntax.includes("json") ? text.replaceAll(/(?<=["\]}\d\w])\n(\s*[}\]])/g, ",\n$1") : text,
  "one line": (text: string, syntax: Syntax) =>
    syntax.includes("json") ? JSON.stringify(JSON.parse(text)) : text.trimEnd(),
  "read-only": (text: string) => text,
  symlink: (text: string) => text,
  unparseable: (_: string, syntax: Syntax) => (syntax === "yaml" ? "a: [1\nb: }\n" : '{ "model": \n'),
  "wrong root type": (_: string, syntax: Syntax) =>
    syntax === "toml" ? "providers = 3\nmodel_providers = 3\n" : syntax === "yaml" ? "- a\n" : "[]\n",
} as const satisfies Record<string, (text: string, syntax: Syntax) => string | null>;

export type StartState = keyof typeof startStates;

/** Whether an agent's file in this state has to be left alone. */
export function isRefused(agent: string, state: StartState): boolean {
  // Cline drops a file that is more than JSON, and Claude Code ignores it.
  const isMoreThanJson = ["comments", "nothing but comments", "trailing commas", "byte-order mark"].includes(state);
  return (
    state === "unparseable" || state === "wrong root type" || (["cline", "claude"].includes(agent) && isMoreThanJson)
  );
}

/** Puts the files of an agent into a home folder. */
export async function putFiles(home: string, agent: string, state: StartState): Promise<void> {
  for (const [path, { syntax, text }] of Object.entries(usersFiles[agent] ?? {})) {
    const content = startStates[state](text, syntax);
    if (content === null) continue;
    const place = join(home, path);
    await mkdir(dirname(place), { recursive: true });
    if (state === "symlink") {
      const real = join(home, "dotfiles", path.replaceAll("/", "_"));
      await mkdir(dirname(real), { recursive: true });
      await writeFile(real, content);
      await symlink(real, place);
    } else await writeFile(place, content);
    await chmod(place, state === "read-only" ? 0o444 : 0o640);
  }
}

function json(value: unknown): { syntax: Syntax; text: string } {
  return { syntax: "json", text: `${JSON.stringify(value, null, 2)}\n` };
}

function withComments(text: string, syntax: Syntax): string {
  const [open, mark] = syntax.includes("json") ? ["{\n", "//"] : ["", "#"];
  const commented = text
    .slice(open.length)
    .replaceAll(/^(.*)$/gm, (line, _, at: number) =>
      line === "" ? line : at % 2 === 0 ? `${line} ${mark} kept` : line,
    );
  return `${open}${mark} the user's own\n${commented}${mark} the end\n`;
}

function tabsFor(spaces: string): string {
  return "\t".repeat(spaces.length / 2);
}
