import { clearDemo } from "../app/demo/clear-demo.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

export const demoCommands: readonly Command[] = [
  {
    name: "demo clear",
    about:
      "Makes a demo's database production's, for good: revokes every key, pair and token, ends every session, removes the demo's sign-in and takes play money back. Stop the service first.",
    options: {},
    async run(_values, { database }) {
      const cleared = await clearDemo(await operatorHere(database));
      const { keys, pairs, serviceTokens, sessions, playMoney, merchantFunds } = cleared;
      return {
        json: cleared,
        text:
          `Revoked ${keys} keys, ${pairs} merchant pairs and ${serviceTokens} service tokens, ended ${sessions} sessions, ` +
          `took Rp ${playMoney} of play money and the coins of ${merchantFunds} production funds back. ` +
          `The database is production's now.`,
      };
    },
  },
];
