// The databases of the other cells: each is looked at as that of the home cell, and whether it is the cell that the settings name.

import { cellConfig } from "../../app/compose/cell-config.ts";
import { openCellDatabase } from "../../app/compose/database.ts";
import type { CellSetting } from "../../app/config/cells.ts";
import { WrongCell } from "../../database/cell-claim.ts";
import { type Check, type CheckContext, failed, type Finding, ok } from "./check.ts";
import { databaseChecks } from "./database.ts";

/** The checks of each cell. */
export function cellChecks({ config, withinMs }: CheckContext): Check[] {
  return config.cells.flatMap((setting) => {
    const { checks, isReadable } = databaseChecks({ config: cellConfig(config, setting), withinMs });
    const name = `cell ${setting.name}`;
    return [
      ...checks.filter(({ name: check }) => check === "database").map((check) => ofCell(check, name)),
      {
        name,
        waitsForDatabase: true,
        advice: `Look at the address of ${setting.name} in SALDO_CELLS.`,
        look: async () => ((await isReadable) ? [await lookAtClaim(setting, name, config)] : []),
      },
    ];
  });
}

function ofCell(check: Check, cell: string): Check {
  const named = (finding: Finding): Finding => ({
    ...finding,
    check: `${cell}: ${finding.check}`,
    advice: finding.advice?.replaceAll(/DATABASE_(?:\w+_)?URL/g, "SALDO_CELLS") ?? null,
  });
  return {
    ...check,
    name: `${cell}: ${check.name}`,
    advice: check.advice.replace("DATABASE_URL", "SALDO_CELLS"),
    look: async () => (await check.look()).map(named),
  };
}

async function lookAtClaim(setting: CellSetting, name: string, config: CheckContext["config"]): Promise<Finding> {
  try {
    await (await openCellDatabase(config, setting)).close();
    return ok(name, "is that cell of this deployment");
  } catch (error) {
    if (error instanceof WrongCell) return failed(name, error.message, "Exchange the addresses in SALDO_CELLS.");
    throw error;
  }
}
