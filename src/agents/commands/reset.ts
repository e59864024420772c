// Takes agents off the gateway.

import { agentOf, agents } from "../agents.ts";
import { FileRefused } from "../files/agent-files.ts";
import { apiUrlOf, Refused } from "../gateway.ts";
import { readRecords } from "../files/record.ts";
import { recordsFolder } from "../machine.ts";
import { printable } from "../printable.ts";
import { planReset, resetAgent, type ReturnedFile } from "../reset-agent.ts";
import { EXIT, type World } from "../world.ts";
import type { Options } from "../options.ts";

const DONE: Readonly<Record<ReturnedFile["how"], string>> = {
  restored: "as it was before",
  removed: "removed, as there was none before",
  forgotten: "free of our entries already",
  edited: "without our entries; what was changed since stays",
};

const NAME_IT = " One that is not remembered here is found with --base-url URL.";

/** `saldo-agents reset`. It asks nothing of the gateway. Errors: Refused. */
export async function reset(options: Options, world: World): Promise<number> {
  const chosen = options.agents?.map(agentOf) ?? agents;
  if (!options.yes && !options.dryRun) {
    if (world.person === null) throw new Refused("Without a terminal, reset needs -y.");
    const names = options.agents === undefined ? "all agents" : chosen.map(({ name }) => name).join(", ");
    if (!(await world.person.confirm(`Take ${names} off the gateway?`))) return EXIT.done;
  }
  // A gateway that was not named is no reason to take anything away. What is remembered is read before the first agent's part
  // of it is forgotten: other files may point to the same gateway.
  const named = options.isBaseUrlNamed ? [apiUrlOf(options.baseUrl, { insecure: true })] : [];
  const remembered = (await readRecords(recordsFolder(world.machine))).flatMap((record) => record.baseUrls);
  const baseUrls = [...named, ...remembered];
  let hasFailed = false;
  let hasWork = false;
  for (const agent of chosen) {
    try {
      const planned = await planReset(agent, baseUrls, world.machine);
      hasWork ||= planned.length > 0;
      const done = options.dryRun
        ? planned.map(({ file, how }) => ({ path: file.path, how, backup: null, leftCopies: [] }))
        : planned.length === 0
          ? []
          : await resetAgent(agent, baseUrls, { machine: world.machine, now: world.now() });
      for (const { path, how, backup, leftCopies } of done) {
        world.out(`${agent.name}: ${printable(path)} ${options.dryRun ? "would be" : "is"} ${DONE[how]}`);
        if (backup !== null) world.out(`  its content until now, maybe with the key, is in ${printable(backup)}`);
        for (const copy of leftCopies) world.out(`  an earlier content, maybe with a key, is in ${printable(copy)}`);
      }
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      hasFailed = true;
      world.err(`${agent.name}: ${printable(error.message)}`);
    }
  }
  if (!hasWork && !hasFailed) world.out(`No agent pointed at the gateway.${named.length === 0 ? NAME_IT : ""}`);
  return hasFailed ? EXIT.failed : EXIT.done;
}
