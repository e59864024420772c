import { createRealChains } from "../app/compose/payouts.ts";
import { type ListedJournal, listJournals } from "../merchant/payouts/forget-journals.ts";
import { readWalletFacts, type WalletFacts } from "../merchant/payouts/payout-facts.ts";
import { listStops, type PayoutStop, type StopScope } from "../merchant/payouts/payout-stops.ts";
import {
  acceptShortPayout,
  findStop,
  forgetNode,
  resumeWallet,
  startPayouts,
  stopPayouts,
} from "../operator/commands/payouts.ts";
import { type Command, type CommandValues, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { uuidOption } from "./option-values.ts";
import { type Column, column, numbers, tableOf } from "./table.ts";

const which = {
  chain: {
    required: false,
    value: "C",
    about: "only this one: sandbox, ethereum, bsc",
    choices: ["sandbox", "ethereum", "bsc"],
  },
  wallet: { required: false, value: "ADDRESS", about: "only this wallet of the chain" },
};

const STOP_COLUMNS = [
  column<PayoutStop>("stopped", scopeText),
  column<PayoutStop>("since", ({ stoppedAt }) => stoppedAt),
  column<PayoutStop>("by", ({ operator }) => operator),
  column<PayoutStop>("reason", ({ reason }) => reason),
];
const JOURNAL_COLUMNS = [
  column<ListedJournal>("chain", ({ chain }) => chain),
  column<ListedJournal>("wallet", ({ address }) => address),
  column<ListedJournal>("host", ({ host }) => host),
  column<ListedJournal>("compared", ({ isCompared, comparedAt }) => (isCompared ? comparedAt : "NOT COMPARED")),
];

function walletColumns(wallets: readonly WalletFacts[]): Column<WalletFacts>[] {
  const sum = (of: (wallet: WalletFacts) => number): number => wallets.reduce((total, each) => total + of(each), 0);
  return [
    column("chain", ({ chain }) => chain),
    column("wallet", ({ address }) => address),
    column("state", ({ isHalted, isStopped }) => (isHalted ? "HALTED" : isStopped ? "STOPPED" : "signing")),
    numbers(
      "open",
      ({ openPayouts }) => openPayouts,
      sum(({ openPayouts }) => openPayouts),
    ),
    numbers(
      "waiting for funds",
      ({ waiting }) => waiting,
      sum(({ waiting }) => waiting),
    ),
    column("why", ({ haltReason }) => haltReason),
  ];
}

export const payoutCommands: readonly Command[] = [
  {
    name: "payout status",
    about: "Shows, for each wallet that pays transfers, how many payouts are open and whether it signs.",
    options: {},
    async run(_values, { database }) {
      const { pool } = await database();
      const wallets = await readWalletFacts(pool);
      const stops = await listStops(pool);
      return {
        json: { wallets, stops },
        text: [
          ...(stops.length === 0 ? [] : [tableOf(stops, STOP_COLUMNS, ""), ""]),
          tableOf(wallets, walletColumns(wallets), "No wallet has paid yet, and none has something to pay."),
        ],
      };
    },
  },
  {
    name: "payout signer",
    about: "Asks each signer outside Saldo for the address of its key, which SALDO_…_WALLET has to be.",
    options: {},
    async run(_values, { config }) {
      const { askSigners } = await import("../app/compose/signers.ts");
      const signers = await askSigners(config);
      return {
        json: { signers },
        text: tableOf(
          signers,
          [
            column("chain", ({ chain }) => chain),
            column("signer", ({ kind }) => kind),
            column("address", ({ address }) => address),
            column("setting", ({ chain }) => `SALDO_${chain.toUpperCase()}_WALLET`),
            column("which is", ({ address, wallet }) =>
              wallet === null ? "not set" : wallet.toLowerCase() === address.toLowerCase() ? "the same" : wallet,
            ),
          ],
          "No chain has a signer outside Saldo.",
        ),
      };
    },
  },
  {
    name: "payout resume",
    about: "Lets a wallet sign again that stopped by itself, such as after a stranger's transaction with its key.",
    options: {
      chain: { required: true, value: "C", about: "which: ethereum, bsc", choices: ["ethereum", "bsc"] },
      reason: { required: true, value: "R", about: "the sender of the payment, and why it is safe to go on" },
      adopt: {
        required: false,
        value: null,
        about: "records payments of open transfers that the chain has and the books lack",
      },
      "first-nonce": {
        required: false,
        value: "N",
        about:
          "for a wallet that never paid from these books: you know what it sent before this nonce, and it is not looked at",
      },
    },
    async run(values, { config, database }) {
      const name = values.need("chain");
      const chains = (await createRealChains(config)).map(({ chain }) => chain);
      const by = await operatorHere(database);
      const reason = values.need("reason");
      const stop = await findStop(by.database.pool, { chains, name });
      if (stop === null) return { json: { chain: name, foreignNonces: 0, adoptedPayments: 0, isNew: false } };
      // The command ends the payout that it shows, even if the wallet changes meanwhile.
      const adopts = values.has("adopt");
      const firstNonce = nonceOption(values.get("first-nonce"));
      const resumed = await resumeWallet(by, { chains, name, stoppedAt: stop.stoppedAt, reason, adopts, firstNonce });
      return { json: { chain: name, ...stop, ...resumed } };
    },
  },
  {
    name: "payout stop",
    about: "Stops payouts: no nonce is taken, nothing is signed or broadcast. Without --chain: all of them.",
    options: { ...which, reason: { required: true, value: "R", about: "why" } },
    async run(values, { database }) {
      const scope = scopeOf(values);
      const isNew = await stopPayouts(await operatorHere(database), { ...scope, reason: values.need("reason") });
      return { json: { ...scope, isNew } };
    },
  },
  {
    name: "payout start",
    about: "Ends a stop that was ordered with the same --chain and --wallet.",
    options: { ...which, reason: { required: true, value: "R", about: "why it is safe" } },
    async run(values, { database }) {
      const scope = scopeOf(values);
      const by = await operatorHere(database);
      const isNew = await startPayouts(by, { ...scope, reason: values.need("reason") });
      return { json: { ...scope, isNew, stops: await listStops(by.database.pool) } };
    },
  },
  {
    name: "payout journal list",
    about: "Lists the nodes' journals of signed payouts, and whether each was compared with the books of now.",
    options: {},
    async run(_values, { database }) {
      const journals = await listJournals((await database()).pool);
      return { json: { journals }, text: tableOf(journals, JOURNAL_COLUMNS, "No node has a journal yet.") };
    },
  },
  {
    name: "payout journal forget",
    about:
      "Forgets the journals of a node that was removed for good. What they have and the books lack is paid again: compare the chain first.",
    options: { reason: { required: true, value: "R", about: "why its volume does not come back" } },
    positionals: ["HOST"],
    async run(values, { database }) {
      const [host = ""] = values.positionals;
      const journals = await forgetNode(await operatorHere(database), { host, reason: values.need("reason") });
      return { json: { host, journals } };
    },
  },
  {
    name: "payout accept-short",
    about: "Accepts a payment although its token delivered less than was sent. Then resume the wallet.",
    options: {
      transfer: { required: true, value: "ID", about: "the transfer" },
      reason: { required: true, value: "R", about: "why, and how the merchant is compensated" },
    },
    async run(values, { database }) {
      const transferId = uuidOption(values.need("transfer"), "transfer");
      const isNew = await acceptShortPayout(await operatorHere(database), {
        transferId,
        reason: values.need("reason"),
      });
      return { json: { transferId, isNew } };
    },
  },
];

function scopeOf(values: CommandValues): StopScope {
  const chain = values.get("chain") ?? "";
  const address = values.get("wallet") ?? "";
  if (chain === "" && address !== "") throw new UsageError("saldo payout: --wallet needs --chain");
  return { chain, address };
}

function nonceOption(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError("saldo payout resume: --first-nonce is a whole number");
  return Number(text);
}

function scopeText({ chain, address }: StopScope): string {
  return chain === "" ? "all payouts" : `${chain} ${address}`.trimEnd();
}
