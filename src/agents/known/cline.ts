// Cline: one slot for OpenAI-compatible providers, which is ours while it points at us. Cline writes the file again on every
// run and drops one that it cannot read, so it is plain JSON or left alone.

import { join } from "node:path";
import type { Agent } from "../agent.ts";
import { isMap, isSame, valueAt } from "../editing/edits.ts";
import { strictJson } from "../editing/json.ts";
import { type Machine, variable } from "../machine.ts";
import { fileAt } from "./places.ts";

const SLOT = "openai-compatible";

export const cline: Agent = {
  id: "cline",
  name: "Cline",
  programs: ["cline"],
  needsLiteralKey: "Cline knows no references to variables",
  files: [
    fileAt(settings, {
      format: strictJson,
      frame: { version: 1, modes: {} },
      placements: ({ apiUrl, key, model }, isOurs) => {
        const pointsAtUs = (slot: unknown): boolean => isOurs(valueAt(slot as never, ["settings", "baseUrl"]));
        const slotSettings = { provider: SLOT, apiKey: key ?? "", model: model.id, baseUrl: apiUrl };
        return [
          {
            kind: "setting",
            path: ["lastUsedProvider"],
            value: SLOT,
            isOurs: (value, root) => value === SLOT && pointsAtUs(valueAt(root, ["providers", SLOT])),
          },
          {
            kind: "setting",
            path: ["providers", SLOT],
            value: {
              settings: slotSettings,
              // Cline sets this to the hour at which it last ran.
              updatedAt: "2026-01-01T00:00:00.000Z",
              tokenSource: "manual",
            },
            isOurs: pointsAtUs,
            isEnough: (slot) => isSame(valueAt(slot, ["settings"]), slotSettings),
          },
        ];
      },
    }),
  ],
  read([root = {}]) {
    const slot = valueAt(root, ["providers", SLOT, "settings"]);
    if (root["lastUsedProvider"] !== SLOT || !isMap(slot) || typeof slot["model"] !== "string") return null;
    return { model: slot["model"], address: slot["baseUrl"], key: slot["apiKey"] };
  },
  overrides: ["CLINE_PROVIDER_SETTINGS_PATH", "CLINE_DATA_DIR", "CLINE_DIR"],
};

function settings(machine: Machine): string {
  const folder =
    variable(machine, "CLINE_DATA_DIR") ?? join(variable(machine, "CLINE_DIR") ?? join(machine.home, ".cline"), "data");
  return variable(machine, "CLINE_PROVIDER_SETTINGS_PATH") ?? join(folder, "settings", "providers.json");
}
