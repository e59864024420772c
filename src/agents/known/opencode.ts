// opencode.

import { join } from "node:path";
import type { Agent } from "../agent.ts";
import { variable, xdgConfig } from "../machine.ts";
import { readProvider, settingsFile } from "./named-provider.ts";

export const opencode: Agent = {
  id: "opencode",
  name: "opencode",
  programs: ["opencode"],
  files: [
    settingsFile({
      // All three are read; the first counts most.
      candidates: (machine) =>
        variable(machine, "OPENCODE_CONFIG") ??
        ["opencode.jsonc", "opencode.json", "config.json"].map((name) =>
          join(variable(machine, "OPENCODE_CONFIG_DIR") ?? join(xdgConfig(machine), "opencode"), name),
        ),
      frame: { $schema: "https://opencode.ai/config.json" },
    }),
  ],
  read: readProvider,
  overrides: ["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT"],
  projectFiles: ["opencode.jsonc", "opencode.json"],
};
