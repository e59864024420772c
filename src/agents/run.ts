// Runs saldo-agents once: arguments in, text and an exit code out. Its dependencies are passed in.

import { agents } from "./agents.ts";
import { apply } from "./commands/apply.ts";
import { doctor } from "./commands/doctor.ts";
import { reset } from "./commands/reset.ts";
import { status } from "./commands/status.ts";
import { UnreadableRecords } from "./files/record.ts";
import { GatewayAway, Refused } from "./gateway.ts";
import { keyHider } from "./hidden-keys.ts";
import { readWords } from "./words.ts";
import { EXIT, type World } from "./world.ts";

const HELP = `saldo-agents points coding agents at a Saldo gateway, and back.

  saldo-agents                  asks for everything
  saldo-agents apply -k KEY -m MODEL [--agents a,b] [-y] [--base-url URL] [--dry-run]
  saldo-agents status [--json]  which agents use the gateway, the key, the balance
  saldo-agents reset [--agents a,b] [-y] [--dry-run]
  saldo-agents doctor           what keeps an agent from working
  saldo-agents --version

  -k, --key KEY       the key; better in SALDO_API_KEY, which other people on this machine do not see
  -m, --model MODEL   a model of the catalog
  --small-model MODEL for titles and summaries; otherwise the cheapest of the same maker (claude, gemini)
  --agents a,b        ${agents.map(({ id }) => id).join(", ")}
  --base-url URL      the gateway, with or without /v1; SALDO_BASE_URL
  --key-env           write references to SALDO_API_KEY instead of the key, where the agent knows them
  --less-traffic      turn off traffic that answers do not need: updates, error reports, statistics (claude, gemini)
  -y, --yes           do not ask
  --dry-run           show what would be written
  --insecure          allow http:// to another machine

Before claude, codex or gemini is changed, the model is asked for an answer of a few tokens, which is billed.

Exit code: 0 done, 1 an agent or the gateway failed, 2 the key, the model or the words were refused.`;

const KEY_IN_WORDS =
  "Warning: a key on the command line shows in the list of processes and in the shell's history. " +
  "Set SALDO_API_KEY instead, or run saldo-agents without a command, which asks for it.";

/** Runs saldo-agents and gives the exit code. Its output is without keys. */
export async function run(words: readonly string[], given: World): Promise<number> {
  const hide = keyHider(words, given.machine);
  const world = {
    ...given,
    out: (text: string) => given.out(hide(text)),
    err: (text: string) => given.err(hide(text)),
  };
  try {
    const { command, options } = readWords(words, world);
    if (command === "help") {
      world.out(HELP);
      return EXIT.done;
    }
    if (command === "version") {
      world.out(world.version);
      return EXIT.done;
    }
    if (options.isKeyInWords) world.err(KEY_IN_WORDS);
    if (command !== null) return await { apply, status, reset, doctor }[command](options, world);
    if (world.person === null) throw new Refused(`There is no terminal to ask at.\n\n${HELP}`);
    return await world.person.wizard(options, world);
  } catch (error) {
    world.err(messageOf(error));
    return error instanceof Refused ? EXIT.refused : EXIT.failed;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof Refused || error instanceof GatewayAway || error instanceof UnreadableRecords) {
    return error.message;
  }
  // Printed here and not by Node, which knows nothing of keys.
  return `This is a fault of saldo-agents: ${error instanceof Error ? error.stack : String(error)}`;
}
