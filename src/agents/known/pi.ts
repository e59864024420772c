// Pi: providers and their models in one file, what is chosen in another.

import { join } from "node:path";
import { type Agent, type AgentFile, PROVIDER } from "../agent.ts";
import { isMap, valueAt } from "../editing/edits.ts";
import { jsonWithComments } from "../editing/json.ts";
import { type Machine, variable } from "../machine.ts";
import { fileAt } from "./places.ts";

export const pi: Agent = {
  id: "pi",
  name: "Pi",
  programs: ["pi"],
  needsLiteralKey: "versions of Pi read references to variables in different ways",
  files: [
    fileOf("models.json", ({ apiUrl, key, model }) => [
      {
        kind: "entry",
        path: ["providers"],
        key: PROVIDER,
        isOurs: (name) => name === PROVIDER,
        value: {
          baseUrl: apiUrl,
          api: "openai-completions",
          apiKey: key ?? "",
          compat: {
            supportsDeveloperRole: false,
            supportsReasoningEffort: false,
            supportsStore: false,
            maxTokensField: "max_tokens",
          },
          models: [
            {
              id: model.id,
              name: model.name,
              reasoning: false,
              input: model.inputModalities.includes("image") ? ["text", "image"] : ["text"],
              contextWindow: model.contextLength,
              maxTokens: model.maxOutputTokens,
              // Pi reckons in dollars; the gateway shows what a request costs, in rupiah.
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            },
          ],
        },
      },
    ]),
    fileOf("settings.json", ({ model }) => [
      // The provider decides which model is meant, so this is decided while the provider is still ours.
      {
        kind: "setting",
        path: ["defaultModel"],
        value: model.id,
        isOurs: (_, root) => root["defaultProvider"] === PROVIDER,
      },
      { kind: "setting", path: ["defaultProvider"], value: PROVIDER, isOurs: (value) => value === PROVIDER },
    ]),
  ],
  read([providers = {}, settings = {}]) {
    const provider = valueAt(providers, ["providers", PROVIDER]);
    const model = settings["defaultModel"];
    if (settings["defaultProvider"] !== PROVIDER || !isMap(provider) || typeof model !== "string") return null;
    return { model, address: provider["baseUrl"], key: provider["apiKey"] };
  },
  overrides: ["PI_CODING_AGENT_DIR"],
  projectFiles: [join(".pi", "settings.json")],
};

function fileOf(name: string, placements: AgentFile["placements"]): AgentFile {
  const path = (machine: Machine): string =>
    join(variable(machine, "PI_CODING_AGENT_DIR") ?? join(machine.home, ".pi", "agent"), name);
  return fileAt(path, { format: jsonWithComments, placements });
}
