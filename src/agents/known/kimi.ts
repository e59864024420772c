// Kimi Code: a provider of ours and a model of it, each a table. Without a largest answer it would ask for the whole context
// as one, and hold that much of the balance.

import { join } from "node:path";
import { type Agent, KEY_VARIABLE, PROVIDER } from "../agent.ts";
import { isMap, valueAt } from "../editing/edits.ts";
import { toml } from "../editing/toml.ts";
import { type Machine, variable } from "../machine.ts";
import { chosenModel, fileAt } from "./places.ts";

const IN_FRONT = `${PROVIDER}/`;

export const kimi: Agent = {
  id: "kimi",
  name: "Kimi Code",
  programs: ["kimi"],
  files: [
    fileAt(settings, {
      format: toml,
      placements: ({ apiUrl, key, model }) => [
        chosenModel(["default_model"], { inFront: IN_FRONT, id: model.id }),
        {
          kind: "entry",
          path: ["providers"],
          key: PROVIDER,
          isOurs: (name) => name === PROVIDER,
          value: {
            type: "openai",
            base_url: apiUrl,
            // One excludes the other.
            ...(key === null ? { api_key_env: KEY_VARIABLE } : { api_key: key }),
          },
        },
        {
          kind: "entry",
          path: ["models"],
          key: IN_FRONT + model.id,
          isOurs: (name) => name.startsWith(IN_FRONT),
          value: {
            provider: PROVIDER,
            model: model.id,
            max_context_size: model.contextLength,
            max_output_size: model.maxOutputTokens,
            display_name: model.name,
          },
        },
      ],
    }),
  ],
  read([root = {}]) {
    const chosen = root["default_model"];
    const provider = valueAt(root, ["providers", PROVIDER]);
    if (typeof chosen !== "string" || !chosen.startsWith(IN_FRONT) || !isMap(provider)) return null;
    return { model: chosen.slice(IN_FRONT.length), address: provider["base_url"], key: provider["api_key"] };
  },
  overrides: ["KIMI_CODE_HOME"],
};

function settings(machine: Machine): string {
  return join(variable(machine, "KIMI_CODE_HOME") ?? join(machine.home, ".kimi-code"), "config.toml");
}
