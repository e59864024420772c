// Droid of Factory: a list of models of the user's own. The id is written out: ids that Droid makes count the list's places.

import { join } from "node:path";
import { type Agent, KEY_VARIABLE } from "../agent.ts";
import { isList, isMap, type Value, valueAt } from "../editing/edits.ts";
import { jsonWithComments } from "../editing/json.ts";
import { type Machine, variable } from "../machine.ts";
import { chosenModel, fileAt } from "./places.ts";

const IN_FRONT = "custom:saldo/";

export const droid: Agent = {
  id: "droid",
  name: "Factory Droid",
  programs: ["droid"],
  files: [
    fileAt(settings, {
      format: jsonWithComments,
      placements: ({ apiUrl, key, model }, isOurs) => [
        chosenModel(["model"], { inFront: IN_FRONT, id: model.id }),
        {
          kind: "item",
          path: ["customModels"],
          isFirst: false,
          isOurs: (item) => isMap(item) && isOurs(item["baseUrl"]),
          value: {
            id: IN_FRONT + model.id,
            model: model.id,
            displayName: `Saldo ${model.name}`,
            baseUrl: apiUrl,
            apiKey: key ?? `\${${KEY_VARIABLE}}`,
            provider: "generic-chat-completion-api",
            maxOutputTokens: model.maxOutputTokens,
          },
        },
      ],
    }),
  ],
  read([root = {}]) {
    const chosen = root["model"];
    const models = valueAt(root, ["customModels"]);
    const isChosen = (each: Value): boolean => isMap(each) && each["id"] === chosen;
    const entry = isList(models) ? models.find(isChosen) : undefined;
    if (!isMap(entry) || typeof entry["model"] !== "string") return null;
    return { model: entry["model"], address: entry["baseUrl"], key: entry["apiKey"] };
  },
  overrides: ["FACTORY_HOME_OVERRIDE"],
  projectFiles: [join(".factory", "settings.json"), join(".factory", "settings.local.json")],
};

function settings(machine: Machine): string {
  return join(variable(machine, "FACTORY_HOME_OVERRIDE") ?? machine.home, ".factory", "settings.json");
}
