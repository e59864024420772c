// The common settings of opencode and Kilo, which began as a copy of it: a provider of ours by name, and the model as
// provider/model.

import { type AgentFile, type Connection, KEY_VARIABLE, type Pointing, PROVIDER } from "../agent.ts";
import { isMap, valueAt, type ValueMap } from "../editing/edits.ts";
import { jsonWithComments } from "../editing/json.ts";
import type { Machine } from "../machine.ts";
import { chosenModel } from "./places.ts";

const IN_FRONT = `${PROVIDER}/`;

/** The settings of an agent of this family. */
export function settingsFile({
  candidates,
  frame,
}: {
  candidates: (machine: Machine) => string | readonly string[];
  frame: ValueMap;
}): AgentFile {
  const all = (machine: Machine): readonly string[] => [candidates(machine)].flat();
  return {
    candidates: all,
    // Both names are read everywhere; the one without comments is what the agent itself would make.
    made: (machine) => all(machine)[1] ?? all(machine)[0] ?? "",
    format: jsonWithComments,
    frame,
    placements: (connection) => [
      {
        kind: "entry",
        path: ["provider"],
        key: PROVIDER,
        value: provider(connection),
        isOurs: (key) => key === PROVIDER,
      },
      chosenModel(["model"], { inFront: IN_FRONT, id: connection.model.id }),
    ],
  };
}

function provider({ apiUrl, key, model }: Connection): ValueMap {
  return {
    npm: "@ai-sdk/openai-compatible",
    name: "Saldo",
    options: { baseURL: apiUrl, apiKey: key ?? `{env:${KEY_VARIABLE}}` },
    models: {
      [model.id]: {
        name: model.name,
        limit: { context: model.contextLength, output: model.maxOutputTokens },
        ...(model.inputModalities.includes("image")
          ? { attachment: true, modalities: { input: ["text", "image"], output: ["text"] } }
          : {}),
      },
    },
  };
}

/** The gateway and model that the settings point at. */
export function readProvider([root = {}]: readonly ValueMap[]): Pointing | null {
  const { model } = root;
  const options = valueAt(root, ["provider", PROVIDER, "options"]);
  if (typeof model !== "string" || !model.startsWith(IN_FRONT) || !isMap(options)) return null;
  return { model: model.slice(IN_FRONT.length), address: options["baseURL"], key: options["apiKey"] };
}
