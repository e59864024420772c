// The words of the command line and the environment as options.

import { parseArgs } from "node:util";
import { Refused } from "./gateway.ts";
import { variable } from "./machine.ts";
import type { Options } from "./options.ts";
import { printable } from "./printable.ts";
import type { World } from "./world.ts";

const COMMANDS = ["apply", "status", "reset", "doctor", "help", "version"] as const;
type Command = (typeof COMMANDS)[number];

const LOCAL_GATEWAY = "http://127.0.0.1:3000";
const FLAG = { type: "boolean", default: false } as const;

/** The command of a command line, null for none, and its options. Errors: Refused. */
export function readWords(words: readonly string[], world: World): { command: Command | null; options: Options } {
  const { values, positionals } = parse(words);
  const [word, ...more] = positionals;
  const command = values.help ? "help" : values.version ? "version" : COMMANDS.find((each) => each === word);
  if (word !== undefined && (command === undefined || more.length > 0)) {
    throw new Refused(
      `saldo-agents does not know "${printable(positionals.join(" "))}". saldo-agents help lists what it knows.`,
    );
  }
  const ids = values.agents
    ?.split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
  if (ids?.length === 0) throw new Refused("--agents names no agent.");
  const { machine, servedBy } = world;
  const named = values["base-url"] ?? variable(machine, "SALDO_BASE_URL") ?? servedBy;
  const options = {
    key: values.key ?? variable(machine, "SALDO_API_KEY"),
    model: values.model,
    smallModel: values["small-model"],
    agents: ids === undefined ? undefined : [...new Set(ids)],
    baseUrl: named ?? LOCAL_GATEWAY,
    isBaseUrlNamed: named !== null,
    yes: values.yes,
    json: values.json,
    keyEnv: values["key-env"],
    dryRun: values["dry-run"],
    lessTraffic: values["less-traffic"],
    insecure: values.insecure,
    isKeyInWords: values.key !== undefined,
  };
  return { command: command ?? null, options };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      strict: true,
      options: {
        key: { type: "string", short: "k" },
        model: { type: "string", short: "m" },
        "small-model": { type: "string" },
        agents: { type: "string" },
        "base-url": { type: "string" },
        yes: { ...FLAG, short: "y" },
        json: FLAG,
        "key-env": FLAG,
        "dry-run": FLAG,
        "less-traffic": FLAG,
        insecure: FLAG,
        help: { ...FLAG, short: "h" },
        version: FLAG,
      },
    });
  } catch {
    // The words of parseArgs may repeat a key that was misplaced.
    throw new Refused("Some of these options do not exist or lack their value. saldo-agents help lists them.");
  }
}
