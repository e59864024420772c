// Qwen Code: models of a protocol in a list, the key in its own table of variables.

import { join } from "node:path";
import { type Agent, KEY_VARIABLE } from "../agent.ts";
import { isList, isMap, valueAt } from "../editing/edits.ts";
import { jsonWithComments } from "../editing/json.ts";
import { type Machine, variable } from "../machine.ts";
import { fileAt } from "./places.ts";

const MODELS = ["modelProviders", "openai"];

export const qwen: Agent = {
  id: "qwen",
  name: "Qwen Code",
  programs: ["qwen"],
  files: [
    fileAt(settings, {
      format: jsonWithComments,
      placements: ({ apiUrl, key, model }, isOurs) => {
        const isOurModel = (name: unknown, root: Parameters<typeof valueAt>[0]): boolean => {
          const models = valueAt(root, MODELS);
          return isList(models) && models.some((each) => isMap(each) && each["id"] === name && isOurs(each["baseUrl"]));
        };
        return [
          ...(key === null
            ? []
            : [{ kind: "setting", path: ["env", KEY_VARIABLE], value: key, isOurs: () => true } as const]),
          {
            kind: "setting",
            path: ["security", "auth", "selectedType"],
            value: "openai",
            // A person who uses another model of this protocol by now still needs it.
            isOurs: (value, root) => value === "openai" && isOurModel(valueAt(root, ["model", "name"]), root),
          },
          { kind: "setting", path: ["model", "name"], value: model.id, isOurs: isOurModel },
          {
            kind: "item",
            path: MODELS,
            isFirst: false,
            isOurs: (item) => isMap(item) && isOurs(item["baseUrl"]),
            value: {
              id: model.id,
              name: `[Saldo] ${model.name}`,
              baseUrl: apiUrl,
              envKey: KEY_VARIABLE,
              generationConfig: { contextWindowSize: model.contextLength },
            },
          },
        ];
      },
    }),
  ],
  read([root = {}]) {
    const model = valueAt(root, ["model", "name"]);
    const models = valueAt(root, MODELS);
    const entry = isList(models) ? models.find((each) => isMap(each) && each["id"] === model) : undefined;
    const isChosen = valueAt(root, ["security", "auth", "selectedType"]) === "openai";
    if (typeof model !== "string" || !isMap(entry) || !isChosen) return null;
    return { model, address: entry["baseUrl"], key: valueAt(root, ["env", KEY_VARIABLE]) };
  },
  overrides: ["QWEN_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
  projectFiles: [join(".qwen", "settings.json")],
};

function settings(machine: Machine): string {
  return join(variable(machine, "QWEN_HOME") ?? join(machine.home, ".qwen"), "settings.json");
}
