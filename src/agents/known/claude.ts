// Claude Code: variables in its settings. Its addresses have no `/v1`, and it ignores a file that is more than JSON.

import { join } from "node:path";
import type { Agent, Placement } from "../agent.ts";
import { isMap, type Value, valueAt, type ValueMap } from "../editing/edits.ts";
import { strictJson } from "../editing/json.ts";
import { withoutKeys } from "../hidden-keys.ts";
import { type Machine, variable } from "../machine.ts";
import { fileAt } from "./places.ts";

const ADDRESS = "ANTHROPIC_BASE_URL";
const KEY = "ANTHROPIC_AUTH_TOKEN";
const MODEL = "ANTHROPIC_MODEL";
/** Names of Anthropic's models that a person, a plug-in or a sub-agent may ask for; the gateway has other ids. */
const LARGE_MODELS = ["OPUS", "SONNET", "FABLE"].map((name) => `ANTHROPIC_DEFAULT_${name}_MODEL`);
/** The second is for versions before the first. */
const SMALL_MODELS = ["ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_SMALL_FAST_MODEL"];

export const claude: Agent = {
  id: "claude",
  name: "Claude Code",
  programs: ["claude"],
  protocol: "messages",
  needsLiteralKey: "the settings of Claude Code know no references to variables",
  extraTraffic: "Claude Code's traffic that answers do not need: updates, error reports, usage statistics",
  files: [
    fileAt(settings, {
      format: strictJson,
      placements: ({ apiUrl, key, model, smallModel, isTrafficReduced }, isOurs) => {
        type Judge = (value: Value, root: ValueMap) => boolean;
        const pointsAtUs: Judge = (_, root) => isOurs(valueAt(root, ["env", ADDRESS]));
        // A key of ours goes even where the address is another's by now: it would be sent there.
        const isOurKey: Judge = (value, root) => pointsAtUs(value, root) || looksLikeKey(value);
        const setting = (name: string, value: Value, judge = pointsAtUs): Placement => ({
          kind: "setting",
          path: ["env", name],
          value,
          isOurs: judge,
        });
        return [
          setting(ADDRESS, apiUrl.replace(/\/v1$/, ""), isOurs),
          setting(KEY, key ?? "", isOurKey),
          // A key for Anthropic in a shell would be sent to the gateway too.
          setting("ANTHROPIC_API_KEY", ""),
          setting(MODEL, model.id),
          ...LARGE_MODELS.map((name) => setting(name, model.id)),
          ...SMALL_MODELS.map((name) => setting(name, smallModel.id)),
          // It takes models that it does not know for ones with a million tokens.
          setting("CLAUDE_CODE_MAX_CONTEXT_TOKENS", String(model.contextLength)),
          ...(isTrafficReduced ? [setting("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")] : []),
        ];
      },
    }),
  ],
  read([root = {}]) {
    const { env } = root;
    if (!isMap(env) || typeof env[MODEL] !== "string") return null;
    return { model: env[MODEL], address: env[ADDRESS], key: env[KEY] };
  },
  overrides: ["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
  projectFiles: [join(".claude", "settings.json"), join(".claude", "settings.local.json")],
};

function looksLikeKey(value: Value): boolean {
  return typeof value === "string" && withoutKeys(value) !== value;
}

function settings(machine: Machine): string {
  return join(variable(machine, "CLAUDE_CONFIG_DIR") ?? join(machine.home, ".claude"), "settings.json");
}
