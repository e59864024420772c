// The chains that production transfers go out on. One is configured by its node's address and the name of the variable that
// holds its wallet's key; the others are not offered.

import { readAmounts } from "./amounts.ts";
import type { SettingReaders } from "./setting-readers.ts";
import { type ChainSigner, readChainSigner, SIGNER_KINDS, type SignerKind } from "./signers.ts";

/** A chain of the Ethereum kind. */
export type ChainConfig = {
  readonly network: "ethereum" | "bsc";
  readonly rpcUrl: string;
  readonly chainId: number;
  /** The variable whose value is the private key of the wallet that pays, or the wallet's address. */
  readonly keyVariable: string;
  /** What has the key outside this process. Null: nothing has, and the key is in the variable. */
  readonly signer: ChainSigner | null;
  /** The contract of each token by its code. */
  readonly tokens: Readonly<Record<string, string>>;
  /** How many blocks make a transaction final, or what the chain itself calls final. */
  readonly finality: number | "finalized";
  /** A node of another provider that has to agree before a payment above so many coins is final. Null: there is none. */
  readonly second: { readonly rpcUrl: string; readonly above: Readonly<Record<string, string>> } | null;
  /** The chain's blocks never come faster on the average. A node whose height grows faster is not believed. */
  readonly msPerBlock: number;
  /** How many whole coins of each currency the wallet sends on a day at most. */
  readonly dailyCaps: Readonly<Record<string, string>>;
  /** The least whole coins of a transfer, and of its fee, by currency. */
  readonly least: Readonly<Record<string, string>>;
  readonly leastFee: Readonly<Record<string, string>>;
  readonly maxFeeGwei: number;
  readonly timeoutMs: number;
  /** After so long a transaction that is not mined is replaced by one that offers more. */
  readonly stuckAfterMs: number;
  /** After so long in which the network takes nothing, the nonce is filled and the transfer rejected. */
  readonly giveUpAfterMs: number;
};

const WEB = ["http:", "https:"];
const CHAIN_ID = { min: 1, max: 999_999_999 };
const GWEI = { min: 1, max: 1_000_000 };
const TIMEOUT_SECONDS = { min: 1, max: 120 };
const STUCK_SECONDS = { min: 1, max: 86_400 };
const BLOCK_MS = { min: 1, max: 600_000 };
const CONFIRMATIONS = { min: 1, max: 10_000 };

/** Reads the chains that are configured. Errors: ConfigError. */
export function readChains(read: SettingReaders): readonly ChainConfig[] {
  const { text, integer, choice, url } = read;
  const chain = (
    network: ChainConfig["network"],
    rpcUrl: string | null,
    key: { name: string; variable: string | null },
    signer: { kind: SignerKind; key: string | null; wallet: string | null },
    rest: () => Omit<ChainConfig, "network" | "rpcUrl" | "keyVariable" | "signer">,
  ): ChainConfig[] => {
    if (rpcUrl === null) return [];
    const names = signerNames(network);
    const outside = readChainSigner(read, {
      kind: signer.kind,
      key: { name: names.key, value: signer.key },
      wallet: { name: names.wallet, value: signer.wallet },
      keyVariable: { name: key.name, value: key.variable },
    });
    if (outside !== null) return [{ network, rpcUrl, keyVariable: names.wallet, signer: outside, ...rest() }];
    if (key.variable === null || text(key.variable) === null) {
      throw read.wrong(key.name, key.variable ?? "", "the name of a variable that holds the wallet's private key");
    }
    // Operators of the catalog may have a variable of such a name sent to an upstream of theirs.
    if (key.variable.endsWith("_API_KEY")) {
      throw read.wrong(key.name, key.variable, "the name of a variable that does not end in _API_KEY");
    }
    return [{ network, rpcUrl, keyVariable: key.variable, signer: null, ...rest() }];
  };
  return [
    ...chain(
      "ethereum",
      url("SALDO_ETHEREUM_RPC_URL", WEB),
      { name: "SALDO_ETHEREUM_KEY_VARIABLE", variable: text("SALDO_ETHEREUM_KEY_VARIABLE") },
      {
        kind: choice("SALDO_ETHEREUM_SIGNER", "local", SIGNER_KINDS),
        key: text("SALDO_ETHEREUM_SIGNER_KEY_ID"),
        wallet: text("SALDO_ETHEREUM_WALLET"),
      },
      () => ({
        chainId: integer("SALDO_ETHEREUM_CHAIN_ID", 1, CHAIN_ID),
        tokens: readTokens(read, "SALDO_ETHEREUM_TOKENS", text("SALDO_ETHEREUM_TOKENS")),
        finality: readFinality(read, "SALDO_ETHEREUM_FINALITY", text("SALDO_ETHEREUM_FINALITY")),
        second: secondNode(url("SALDO_ETHEREUM_SECOND_RPC_URL", WEB), readAmounts("SALDO_ETHEREUM_SECOND_ABOVE", read)),
        dailyCaps: readAmounts("SALDO_ETHEREUM_DAILY_CAP", read, { ETH: "10", USDT: "25000", USDC: "25000" }),
        least: readAmounts("SALDO_ETHEREUM_LEAST", read, { ETH: "0.005", USDT: "10", USDC: "10" }),
        leastFee: readAmounts("SALDO_ETHEREUM_LEAST_FEE", read, { ETH: "0.001", USDT: "3", USDC: "3" }),
        msPerBlock: integer("SALDO_ETHEREUM_BLOCK_MS", 6_000, BLOCK_MS),
        maxFeeGwei: integer("SALDO_ETHEREUM_MAX_FEE_GWEI", 200, GWEI),
        timeoutMs: integer("SALDO_ETHEREUM_TIMEOUT_SECONDS", 10, TIMEOUT_SECONDS) * 1_000,
        stuckAfterMs: integer("SALDO_ETHEREUM_STUCK_SECONDS", 300, STUCK_SECONDS) * 1_000,
        giveUpAfterMs: integer("SALDO_ETHEREUM_GIVE_UP_SECONDS", 1_800, STUCK_SECONDS) * 1_000,
      }),
    ),
    ...chain(
      "bsc",
      url("SALDO_BSC_RPC_URL", WEB),
      { name: "SALDO_BSC_KEY_VARIABLE", variable: text("SALDO_BSC_KEY_VARIABLE") },
      {
        kind: choice("SALDO_BSC_SIGNER", "local", SIGNER_KINDS),
        key: text("SALDO_BSC_SIGNER_KEY_ID"),
        wallet: text("SALDO_BSC_WALLET"),
      },
      () => ({
        chainId: integer("SALDO_BSC_CHAIN_ID", 56, CHAIN_ID),
        tokens: readTokens(read, "SALDO_BSC_TOKENS", text("SALDO_BSC_TOKENS")),
        finality: readFinality(read, "SALDO_BSC_FINALITY", text("SALDO_BSC_FINALITY")),
        second: secondNode(url("SALDO_BSC_SECOND_RPC_URL", WEB), readAmounts("SALDO_BSC_SECOND_ABOVE", read)),
        dailyCaps: readAmounts("SALDO_BSC_DAILY_CAP", read, { BNB: "40", USDT: "25000", USDC: "25000" }),
        least: readAmounts("SALDO_BSC_LEAST", read, { BNB: "0.005", USDT: "2", USDC: "2" }),
        leastFee: readAmounts("SALDO_BSC_LEAST_FEE", read, { BNB: "0.0005", USDT: "0.3", USDC: "0.3" }),
        msPerBlock: integer("SALDO_BSC_BLOCK_MS", 200, BLOCK_MS),
        maxFeeGwei: integer("SALDO_BSC_MAX_FEE_GWEI", 50, GWEI),
        timeoutMs: integer("SALDO_BSC_TIMEOUT_SECONDS", 10, TIMEOUT_SECONDS) * 1_000,
        stuckAfterMs: integer("SALDO_BSC_STUCK_SECONDS", 120, STUCK_SECONDS) * 1_000,
        giveUpAfterMs: integer("SALDO_BSC_GIVE_UP_SECONDS", 1_800, STUCK_SECONDS) * 1_000,
      }),
    ),
  ];
}

/** The variables of a chain's signer. */
export function signerNames(network: ChainConfig["network"]): Readonly<Record<"kind" | "key" | "wallet", string>> {
  const chain = `SALDO_${network.toUpperCase()}`;
  return { kind: `${chain}_SIGNER`, key: `${chain}_SIGNER_KEY_ID`, wallet: `${chain}_WALLET` };
}

/** `USDT=0x…,USDC=0x…` */
function readTokens({ wrong }: SettingReaders, name: string, value: string | null): Record<string, string> {
  const entries = (value ?? "").split(",").filter((entry) => entry.trim() !== "");
  return Object.fromEntries(
    entries.map((entry) => {
      const [, code, contract] = /^\s*(USDT|USDC)\s*=\s*(0x[0-9a-fA-F]{40})\s*$/.exec(entry) ?? [];
      if (code === undefined || contract === undefined) {
        throw wrong(name, value ?? "", "USDT=0x… or USDC=0x…, or both with a comma between");
      }
      return [code, contract];
    }),
  );
}

function secondNode(rpcUrl: string | null, above: Readonly<Record<string, string>>): ChainConfig["second"] {
  return rpcUrl === null ? null : { rpcUrl, above };
}

function readFinality({ wrong }: SettingReaders, name: string, value: string | null): number | "finalized" {
  if (value === null || value === "finalized") return "finalized";
  const blocks = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (blocks < CONFIRMATIONS.min || blocks > CONFIRMATIONS.max) {
    throw wrong(name, value, `finalized, or a number of blocks from ${CONFIRMATIONS.min} to ${CONFIRMATIONS.max}`);
  }
  return blocks;
}
