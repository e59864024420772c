// Takes agents off the gateway.

import { agents, agentsOf } from "../agents.ts";
import { FileRefused } from "../files/agent-files.ts";
import { apiUrlOf, Refused } from "../gateway.ts";
import { printable } from "../printable.ts";
import { carryOutReset, planReset, type ReturnedFile } from "../reset-agent.ts";
import { EXIT, type World } from "../world.ts";
import type { Options } from "../words.ts";

const DONE: Readonly<Record<ReturnedFile["how"], string>> = {
  restored: "as it was before",
  removed: "removed, as there was none before",
  edited: "without our entries; what was changed since stays",
};

/** `saldo-agents reset`. It asks nothing of the gateway. Errors: Refused. */
export async function reset(options: Options, world: World): Promise<number> {
  const chosen = options.agents === undefined ? agents : agentsOf(options.agents);
  if (!options.yes && !options.dryRun) {
    if (world.person === null) throw new Refused("Without a terminal, reset needs -y.");
    const names = options.agents === undefined ? "all agents" : chosen.map(({ name }) => name).join(", ");
    if (!(await world.person.confirm(`Take ${names} off the gateway?`))) return EXIT.done;
  }
  const baseUrls = [apiUrlOf(options.baseUrl, { insecure: true })];
  let hasFailed = false;
  let hasWork = false;
  for (const agent of chosen) {
    try {
      const planned = await planReset(agent, baseUrls, world.machine);
      hasWork ||= planned.length > 0;
      const done = options.dryRun
        ? planned.map(({ file, how }) => ({ path: file.path, how, backup: null }))
        : await carryOutReset(planned, { machine: world.machine, now: world.now() });
      for (const { path, how, backup } of done) {
        world.out(`${agent.name}: ${printable(path)} ${options.dryRun ? "would be" : "is"} ${DONE[how]}`);
        if (backup !== null) world.out(`  its content until now is in ${printable(backup)}`);
      }
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      hasFailed = true;
      world.err(`${agent.name}: ${printable(error.message)}`);
    }
  }
  if (!hasWork && !hasFailed) world.out("No agent pointed at the gateway.");
  return hasFailed ? EXIT.failed : EXIT.done;
}
