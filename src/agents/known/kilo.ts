// Kilo Code; its editor extension reads the same file.

import { join } from "node:path";
import type { Agent } from "../agent.ts";
import { variable, xdgConfig } from "../machine.ts";
import { readProvider, settingsFile } from "./named-provider.ts";

export const kilo: Agent = {
  id: "kilo",
  name: "Kilo Code",
  programs: ["kilo", "kilocode"],
  files: [
    settingsFile({
      candidates: (machine) =>
        variable(machine, "KILO_CONFIG") ??
        ["kilo.jsonc", "kilo.json"].map((name) =>
          join(variable(machine, "KILO_CONFIG_DIR") ?? join(xdgConfig(machine), "kilo"), name),
        ),
      frame: {},
    }),
  ],
  read: readProvider,
  overrides: ["KILO_CONFIG", "KILO_CONFIG_DIR", "KILO_CONFIG_CONTENT"],
  projectFiles: ["kilo.jsonc", "kilo.json"],
};
