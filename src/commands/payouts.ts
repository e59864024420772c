import { createRealChains } from "../app-payouts.ts";
import { readWalletFacts } from "../merchant/payouts/payout-facts.ts";
import { findStop, orderResume } from "../operator/payout-orders.ts";
import type { Command } from "./command.ts";
import { orderedHere } from "./operator.ts";

export const payoutCommands: readonly Command[] = [
  {
    name: "payout status",
    about: "Tells of each wallet that pays transfers out how many payouts are open, and whether it signs.",
    options: {},
    async run(_values, { database }) {
      const wallets = await readWalletFacts((await database()).pool);
      return {
        json: { wallets },
        text: wallets
          .map(({ chain, openPayouts, waiting, isHalted }) =>
            [chain, `${openPayouts} open`, `${waiting} waiting for funds`, isHalted ? "STOPPED" : "signing"].join("  "),
          )
          .join("\n"),
      };
    },
  },
  {
    name: "payout resume",
    about: "Lets a wallet sign again that stopped because somebody else had used its key.",
    options: {
      chain: { required: true, value: "C", about: "which: ethereum, bsc" },
      reason: { required: true, value: "R", about: "who it was, and why it is safe to go on" },
    },
    async run(values, { config, database }) {
      const name = values.need("chain");
      const chains = (await createRealChains(config)).map(({ chain }) => chain);
      const by = await orderedHere(database);
      const reason = values.need("reason");
      const stop = await findStop(by.database.pool, { chains, name });
      if (stop === null) return { json: { chain: name, foreignNonces: 0, isNew: false } };
      // What is ended is what is shown, whatever becomes of the wallet meanwhile.
      const resumed = await orderResume(by, { chains, name, stoppedAt: stop.stoppedAt, reason });
      return { json: { chain: name, ...stop, ...resumed } };
    },
  },
];
