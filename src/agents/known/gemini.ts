// Gemini CLI: the address and the key are variables in a file of its own, the model is in its settings. Its small tasks ask
// for models of Google's by name, which are aliases that its settings may give another meaning.

import { join } from "node:path";
import { type Agent, type AgentFile, type Connection, type Placement, PROVIDER } from "../agent.ts";
import { dotenv } from "../editing/dotenv.ts";
import { isMap, type Value, valueAt, type ValueMap } from "../editing/edits.ts";
import { jsonWithComments } from "../editing/json.ts";
import { withoutKeys } from "../hidden-keys.ts";
import { type Machine, variable } from "../machine.ts";
import { fileAt } from "./places.ts";

const ADDRESS = "GOOGLE_GEMINI_BASE_URL";
const KEY = "GEMINI_API_KEY";
const WITH_KEY = "gemini-api-key";
const ALIASES = ["modelConfigs", "customAliases"];
const SMALL = `${PROVIDER}-small`;
const SMALL_TASKS = [
  "classifier",
  "prompt-completion",
  "fast-ack-helper",
  "edit-corrector",
  "summarizer-default",
  "summarizer-shell",
  "gemini-3-flash-base",
  "agent-history-provider-summarizer",
];
const LARGE_TASKS = ["loop-detection-double-check", "chat-compression-default"];
/** It takes every model for one of so many tokens, and shortens a conversation at half of them. */
const TAKEN_CONTEXT = 1_048_576;
const SHORTENED_AT = 0.5;

export const gemini: Agent = {
  id: "gemini",
  name: "Gemini CLI",
  programs: ["gemini"],
  protocol: "gemini",
  // The name is a part of a path, and the library of Gemini CLI writes it there as it is.
  canAskFor: (model) => /^[\w.:@+~-]+(?:\/[\w.:@+~-]+)*$/.test(model) && !model.includes(".."),
  needsLiteralKey: "the file of variables of Gemini CLI knows no references",
  extraTraffic: "Gemini CLI's traffic that answers do not need: updates, usage statistics",
  files: [
    // Not the .env of the home folder: in a folder that is not trusted, Gemini CLI reads the key there without the address.
    fileOf(".env", dotenv, ({ apiUrl, key }, isOurs) => {
      const pointsAtUs = (root: ValueMap): boolean => isOurs(root[ADDRESS]);
      return [
        { kind: "setting", path: [ADDRESS], value: apiUrl.replace(/\/v1$/, ""), isOurs },
        {
          kind: "setting",
          path: [KEY],
          value: key ?? "",
          // A key of ours goes even where the address is another's by now: it would be sent there.
          isOurs: (value, root) => pointsAtUs(root) || (typeof value === "string" && withoutKeys(value) !== value),
        },
      ];
    }),
    fileOf("settings.json", jsonWithComments, settings),
  ],
  read([variables = {}, root = {}]) {
    const model = valueAt(root, ["model", "name"]);
    if (typeof model !== "string" || valueAt(root, ["security", "auth", "selectedType"]) !== WITH_KEY) return null;
    return { model, address: variables[ADDRESS], key: variables[KEY] };
  },
  overrides: [
    "GEMINI_CLI_HOME",
    ADDRESS,
    KEY,
    "GEMINI_MODEL",
    "GOOGLE_GENAI_API_VERSION",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
  ],
  projectFiles: [".env", join(".gemini", ".env"), join(".gemini", "settings.json")],
};

function settings({ model, smallModel, isTrafficReduced }: Connection): Placement[] {
  const aliases = { [PROVIDER]: alias("chat-base", model.id), [SMALL]: alias("base", smallModel.id) };
  const named = Object.entries(aliases).map(([key, value]): Placement => ({
    kind: "entry",
    path: ALIASES,
    key,
    value,
    isOurs: (each) => each === key,
  }));
  const task = (base: string, id: string) => (name: string) => {
    const path = [...ALIASES, name];
    const isOurs = (_: Value, root: ValueMap) => extendsOurs(valueAt(root, path));
    // Not the alias as a whole: a person's own may have more in it.
    return [setting([...path, "extends"], base, isOurs), setting([...path, "modelConfig", "model"], id, isOurs)];
  };
  const quiet = [
    setting(["privacy", "usageStatisticsEnabled"], false),
    setting(["general", "enableAutoUpdate"], false),
    setting(["general", "enableAutoUpdateNotification"], false),
  ];
  return [
    setting(["security", "auth", "selectedType"], WITH_KEY),
    setting(["model", "name"], model.id),
    setting(["model", "compressionThreshold"], thresholdFor(model.contextLength)),
    ...named,
    ...SMALL_TASKS.flatMap(task(SMALL, smallModel.id)),
    ...LARGE_TASKS.flatMap(task(PROVIDER, model.id)),
    ...(isTrafficReduced ? quiet : []),
  ];
}

function setting(path: readonly string[], value: Value, isOurs = usesOurModel): Placement {
  return { kind: "setting", path, value, isOurs };
}

function alias(base: string, model: string): ValueMap {
  return { extends: base, modelConfig: { model } };
}

/** The settings have no address; an alias of ours is the mark that the chosen model is ours. */
function usesOurModel(_: Value, root: ValueMap): boolean {
  const ours = valueAt(root, [...ALIASES, PROVIDER, "modelConfig", "model"]);
  return ours !== undefined && valueAt(root, ["model", "name"]) === ours;
}

function extendsOurs(value: Value | undefined): boolean {
  return isMap(value) && (value["extends"] === PROVIDER || value["extends"] === SMALL);
}

/** The part of the context that it takes for granted at which half of the real one is full. */
function thresholdFor(contextLength: number): number {
  const share = Math.min(1, contextLength / TAKEN_CONTEXT);
  return Math.floor(SHORTENED_AT * share * 10_000) / 10_000;
}

function fileOf(name: string, format: AgentFile["format"], placements: AgentFile["placements"]): AgentFile {
  return fileAt((machine: Machine) => join(variable(machine, "GEMINI_CLI_HOME") ?? machine.home, ".gemini", name), {
    format,
    placements,
  });
}
