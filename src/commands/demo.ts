import { clearDemo, type ClearedDemo } from "../app/demo/clear-demo.ts";
import { HOME_CELL } from "../database/cell-claim.ts";
import { readPurpose } from "../database/purpose.ts";
import type { Command } from "./command.ts";
import { inEach, openAll, perCell } from "./every-cell.ts";
import { operatorHere } from "./operator-here.ts";

export const demoCommands: readonly Command[] = [
  {
    name: "demo clear",
    about:
      "Makes a demo's database production's, for good: revokes every key, pair and token, ends every session, removes the demo's sign-in and takes play money back. Stop the service first.",
    options: {},
    async run(_values, context) {
      // A start refuses cells of two purposes. The home cell is the last, so a run that was stopped is run again.
      await openAll(context);
      const done = await inEach(context, async ({ name, database }) => {
        const isLeft = name === HOME_CELL || (await readPurpose((await database()).pool)) === "demo";
        return isLeft ? clearDemo(await operatorHere(database)) : null;
      });
      const cleared = done.flatMap(({ cell, outcome }) => (outcome === null ? [] : [{ cell, outcome }]));
      const [last] = cleared;
      return {
        json: { ...last?.outcome, ...perCell(cleared) },
        text: cleared
          .map(({ cell, outcome }) => (done.length === 1 ? "" : `${cell}: `) + clearedText(outcome))
          .join("\n"),
      };
    },
  },
];

function clearedText({ keys, pairs, serviceTokens, sessions, playMoney, merchantFunds }: ClearedDemo): string {
  return (
    `Revoked ${keys} keys, ${pairs} merchant pairs and ${serviceTokens} service tokens, ended ${sessions} sessions, ` +
    `took Rp ${playMoney} of play money and the coins of ${merchantFunds} production funds back. ` +
    `The database is production's now.`
  );
}
