// The databases that one command works on: opened when it asks for them, and closed behind it.

import type { CellSetting } from "../app/config/cells.ts";
import type { Config } from "../app/config/config.ts";
import { cellConfig } from "../app/compose/cell-config.ts";
import { openCellDatabase, openServiceDatabase } from "../app/compose/database.ts";
import { HOME_CELL } from "../database/cell-claim.ts";
import type { Database, DatabaseOptions } from "../database/database.ts";
import { worksOnCells } from "./cell-option.ts";
import { type CommandCell, type CommandContext, UsageError } from "./command.ts";

/** What a command works with, and how that ends. */
export type OpenedContext = CommandContext & AsyncDisposable;

/** Makes it. `cell`: the one that the command names. Errors: UsageError. */
export function contextOf(
  { command, cell }: { readonly command: string; readonly cell: string | undefined },
  config: Config,
  waits: Pick<DatabaseOptions, "onSchemaWait">,
): OpenedContext {
  const opened: Promise<Database>[] = [];
  const once = (open: () => Promise<Database>): (() => Promise<Database>) => {
    let found: Promise<Database> | undefined;
    return () => {
      if (found === undefined) opened.push((found = open()));
      return found;
    };
  };
  const home: CommandCell = { name: HOME_CELL, config, database: once(() => openServiceDatabase(config, waits)) };
  const cellOf = (setting: CellSetting, mayBeNew: boolean): CommandCell => ({
    name: setting.name,
    config: cellConfig(config, setting),
    database: once(() => openCellDatabase(config, setting, { ...waits, mayBeNew })),
  });
  const named = settingOf(command, cell, config);
  const used = named === null ? home : cellOf(named, false);
  return {
    config: used.config,
    database: used.database,
    people: used === home ? null : home.database,
    cells: cell === undefined ? [home, ...config.cells.map((each) => cellOf(each, true))] : [used],
    async [Symbol.asyncDispose]() {
      // One that could not be opened has been reported already.
      await Promise.allSettled(opened.map(async (each) => (await each).close()));
    },
  };
}

/** The cell that a command names. Null: the home cell. Errors: UsageError. */
function settingOf(command: string, name: string | undefined, { cells }: Pick<Config, "cells">): CellSetting | null {
  if (name === undefined || name === HOME_CELL) return null;
  if (!worksOnCells(command)) throw new UsageError(`saldo ${command}: works on the home cell alone`);
  const cell = cells.find((each) => each.name === name);
  if (cell !== undefined) return cell;
  const names = [HOME_CELL, ...cells.map((each) => each.name)];
  throw new UsageError(`saldo ${command}: --cell must be one of ${names.join(", ")}`);
}
