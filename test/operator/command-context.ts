// What a command works with, on a database that a test has open.

import { readConfig } from "../../src/app/config/config.ts";
import type { CommandContext } from "../../src/commands/command.ts";
import type { Database } from "../../src/database/database.ts";

/** Makes it: there is no other cell. */
export function contextOn(opened: Database): CommandContext {
  const [config, database] = [readConfig({}), () => Promise.resolve(opened)];
  return { config, database, people: null, cells: [{ name: "home", config, database }] };
}
