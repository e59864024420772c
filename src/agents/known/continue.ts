// Continue: a list of models of which the first is the one it uses.

import { join } from "node:path";
import { type Agent, KEY_VARIABLE } from "../agent.ts";
import { isList, isMap } from "../editing/edits.ts";
import { yaml } from "../editing/yaml.ts";
import { type Machine, variable } from "../machine.ts";
import { fileAt } from "./places.ts";

export const continueAgent: Agent = {
  id: "continue",
  name: "Continue",
  programs: ["cn"],
  files: [
    fileAt(settings, {
      format: yaml,
      frame: { name: "Local Config", version: "1.0.0", schema: "v1" },
      placements: ({ apiUrl, key, model }, isOurs) => [
        {
          kind: "item",
          path: ["models"],
          isFirst: true,
          isOurs: (item) => isMap(item) && isOurs(item["apiBase"]),
          value: {
            name: `Saldo ${model.name}`,
            provider: "openai",
            model: model.id,
            apiBase: apiUrl,
            apiKey: key ?? `\${{ secrets.${KEY_VARIABLE} }}`,
            roles: ["chat", "edit", "apply"],
            capabilities: model.inputModalities.includes("image") ? ["tool_use", "image_input"] : ["tool_use"],
            defaultCompletionOptions: { contextLength: model.contextLength, maxTokens: model.maxOutputTokens },
          },
        },
      ],
    }),
  ],
  read([root = {}]) {
    const first = isList(root["models"]) ? root["models"][0] : undefined;
    if (!isMap(first) || typeof first["model"] !== "string") return null;
    return { model: first["model"], address: first["apiBase"], key: first["apiKey"] };
  },
  overrides: ["CONTINUE_GLOBAL_DIR"],
};

function settings(machine: Machine): string {
  return join(variable(machine, "CONTINUE_GLOBAL_DIR") ?? join(machine.home, ".continue"), "config.yaml");
}
