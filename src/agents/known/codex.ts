// Codex: a provider of ours, which is chosen by name. It repeats a refused request five times by default.

import { join } from "node:path";
import { type Agent, KEY_VARIABLE, type Placement, PROVIDER } from "../agent.ts";
import { isMap, type Value, valueAt } from "../editing/edits.ts";
import { toml } from "../editing/toml.ts";
import { type Machine, variable } from "../machine.ts";
import { fileAt } from "./places.ts";

export const codex: Agent = {
  id: "codex",
  name: "Codex",
  programs: ["codex"],
  protocol: "responses",
  files: [
    fileAt(settings, {
      format: toml,
      placements: ({ apiUrl, key, model }) => [
        setting("model", model.id),
        setting("model_provider", PROVIDER),
        setting("model_context_window", model.contextLength),
        // The gateway sells no searches.
        setting("web_search", "disabled"),
        {
          kind: "entry",
          path: ["model_providers"],
          key: PROVIDER,
          isOurs: (name) => name === PROVIDER,
          value: {
            // With the name OpenAI it would compact conversations in a way that only OpenAI knows.
            name: "Saldo",
            base_url: apiUrl,
            ...(key === null ? { env_key: KEY_VARIABLE } : { experimental_bearer_token: key }),
            wire_api: "responses",
            request_max_retries: 1,
            stream_max_retries: 1,
          },
        },
      ],
    }),
  ],
  read([root = {}]) {
    const provider = valueAt(root, ["model_providers", PROVIDER]);
    if (root["model_provider"] !== PROVIDER || typeof root["model"] !== "string" || !isMap(provider)) return null;
    return { model: root["model"], address: provider["base_url"], key: provider["experimental_bearer_token"] };
  },
  overrides: ["CODEX_HOME"],
  projectFiles: [join(".codex", "config.toml")],
};

/** The provider decides whose setting it is: Codex knows one value for all providers. */
function setting(name: string, value: Value): Placement {
  return { kind: "setting", path: [name], value, isOurs: (_, root) => root["model_provider"] === PROVIDER };
}

function settings(machine: Machine): string {
  return join(variable(machine, "CODEX_HOME") ?? join(machine.home, ".codex"), "config.toml");
}
