// A chain of the Ethereum kind through viem: its native coin and ERC-20 tokens, with EIP-1559 fees. It holds no state; nonces
// come from the engine. Nothing here is retried: the engine asks again with its next round.

import {
  BaseError,
  createPublicClient,
  encodeFunctionData,
  getAddress,
  http,
  isAddress,
  isAddressEqual,
  keccak256,
  parseAbi,
  parseEventLogs,
  type Address,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { invariant } from "../../../kernel/invariant.ts";
import { type Coin, findCoin, type Network } from "../../currencies.ts";
import {
  type ChainHead,
  type ChainPayment,
  type FeeOffer,
  type NonceHolder,
  type PayoutChain,
  replacingFee,
  type SeenTransaction,
  UnsignablePayment,
} from "../payout-chain.ts";
import { withoutUrlInErrors } from "./node-error.ts";
import { findNonceHolder } from "./nonce-holder.ts";

/** The networks this adapter knows, and the coin in which each takes its fees. */
export const nativeCurrencies = { ethereum: "ETH", bsc: "BNB" } as const satisfies Partial<Record<Network, string>>;
export type EvmNetwork = keyof typeof nativeCurrencies;

export type EvmSettings = {
  readonly network: EvmNetwork;
  readonly rpcUrl: string;
  readonly chainId: number;
  /** 0x and 64 hexadecimal digits. */
  readonly privateKey: string;
  /** The contract of each token, by currency code. */
  readonly tokens: Readonly<Record<string, string>>;
  /** How many blocks make a transaction final, its own included; or what the chain itself calls final. */
  readonly finality: number | "finalized";
  /** Offers never go above so many gwei. */
  readonly maxFeeGwei: number;
  /** A node that takes longer has not answered. */
  readonly timeoutMs: number;
};

/**
 * What a transaction may use. Plain payments use 21 000 and tokens well below; a limit that is not used up costs nothing, and a
 * fixed one lets signing do without the network.
 */
export const GAS_LIMIT = 120_000n;
const GWEI = 1_000_000_000n;
const TOKEN_ABI = parseAbi([
  "function transfer(address to, uint256 amount) returns (bool)",
  "function balanceOf(address owner) view returns (uint256)",
  "function decimals() view returns (uint8)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

/** Makes the chain. Errors: a key or an address that is none; nothing is asked of the network yet. */
export function createEvmChain(settings: EvmSettings): PayoutChain {
  const { network, chainId, finality } = settings;
  const account = accountOf(settings);
  const nativeCode = nativeCurrencies[network];
  const tokens = new Map(Object.entries(settings.tokens).map(([code, address]) => [code, tokenOf(code, address)]));
  const client: PublicClient = createPublicClient({
    transport: http(settings.rpcUrl, { timeout: settings.timeoutMs, retryCount: 0 }),
    cacheTime: 0,
  });

  function tokenOf(code: string, address: string): { readonly coin: Coin; readonly address: Address } {
    if (code === nativeCode) throw new Error(`${code} is the coin of ${network} itself and has no contract`);
    if (!isAddress(address)) throw new Error(`${address}, the contract of ${code}, is no address of ${network}`);
    return { coin: findCoin(code, network), address: getAddress(address) };
  }

  /** The contract of a currency; null: the native coin. */
  function contractOf({ currencyCode }: Coin): Address | null {
    if (currencyCode === nativeCode) return null;
    const token = tokens.get(currencyCode);
    invariant(token !== undefined, "a payment is of a currency that its chain can send");
    return token.address;
  }

  async function blockHashAt(blockNumber: number): Promise<Hex | null> {
    return (await client.getBlock({ blockNumber: BigInt(blockNumber) })).hash;
  }

  async function isFinal({ number, hash }: { number: number; hash: string }, head: ChainHead): Promise<boolean> {
    return number <= head.final && (await blockHashAt(number)) === hash;
  }

  function didPay(receipt: TransactionReceipt, payment: ChainPayment | null): boolean {
    if (receipt.status !== "success") return false;
    const contract = payment === null ? null : contractOf(payment.coin);
    if (payment === null || contract === null) return true;
    // A token may answer "no" without reverting. What counts is that it says it moved something to the recipient.
    return parseEventLogs({ abi: TOKEN_ABI, eventName: "Transfer", logs: receipt.logs }).some(
      (log) =>
        isAddressEqual(log.address, contract) &&
        isAddressEqual(log.args.from, account.address) &&
        isAddressEqual(log.args.to, payment.to as Address) &&
        log.args.value > 0n,
    );
  }

  const chain: PayoutChain = {
    name: network,
    wallet: account.address,
    feeCoin: findCoin(nativeCode, network),
    currencies: [nativeCode, ...tokens.keys()],
    ownAddresses: [account.address, ...[...tokens.values()].map(({ address }) => address)],

    async check() {
      const found = await client.getChainId();
      if (found !== chainId) throw new Error(`the node of ${network} is on chain ${found}, not on ${chainId}`);
      for (const { coin, address } of tokens.values()) {
        const decimals = await client.readContract({ address, abi: TOKEN_ABI, functionName: "decimals" });
        if (decimals !== coin.decimals) {
          throw new Error(
            `${address} has ${decimals} decimals; ${coin.currencyCode} on ${network} has ${coin.decimals}`,
          );
        }
      }
    },

    async head() {
      const latest = Number(await client.getBlockNumber());
      if (finality !== "finalized") return { latest, final: latest - finality + 1 };
      const { number } = await client.getBlock({ blockTag: "finalized" });
      return { latest, final: number === null ? -1 : Number(number) };
    },

    async find({ hash, payment }, head): Promise<SeenTransaction> {
      const receipt = await absentAsNull("TransactionReceiptNotFoundError", () =>
        client.getTransactionReceipt({ hash: hash as Hex }),
      );
      if (receipt === null) {
        const known = await absentAsNull("TransactionNotFoundError", () =>
          client.getTransaction({ hash: hash as Hex }),
        );
        return { status: known === null ? "unknown" : "pending" };
      }
      const block = { number: Number(receipt.blockNumber), hash: receipt.blockHash };
      return {
        status: "mined",
        block,
        confirmations: Math.max(head.latest - block.number + 1, 1),
        isFinal: await isFinal(block, head),
        succeeded: didPay(receipt, payment),
        feePaid: receipt.gasUsed * receipt.effectiveGasPrice,
      };
    },

    nextNonce: () => client.getTransactionCount({ address: account.address, blockTag: "latest" }),

    async holderOf(nonce, head): Promise<NonceHolder | null> {
      const found = await findNonceHolder(client, { address: account.address, nonce, latest: head.latest });
      return found && { hash: found.hash, isFinal: await isFinal(found.block, head) };
    },

    balance(coin) {
      const address = contractOf(coin);
      if (address === null) return client.getBalance({ address: account.address });
      return client.readContract({ address, abi: TOKEN_ABI, functionName: "balanceOf", args: [account.address] });
    },

    async suggestFee(replaced): Promise<FeeOffer | null> {
      const [{ baseFeePerGas }, priority] = await Promise.all([
        client.getBlock(),
        client.estimateMaxPriorityFeePerGas(),
      ]);
      const cap = BigInt(settings.maxFeeGwei) * GWEI;
      // The base fee may rise by an eighth with each block; twice of it lasts for six full ones.
      const most = (baseFeePerGas ?? 0n) * 2n + priority;
      const suggested = { most: most < cap ? most : cap, priority: priority < cap ? priority : cap };
      if (replaced === null) return suggested;
      const raised = replacingFee(replaced, suggested);
      return raised.most <= cap ? raised : null;
    },

    mostCost: ({ most }) => GAS_LIMIT * most,

    async sign({ nonce, payment, fee }) {
      try {
        const raw = await account.signTransaction({
          type: "eip1559",
          chainId,
          nonce,
          gas: GAS_LIMIT,
          maxFeePerGas: fee.most,
          maxPriorityFeePerGas: fee.priority,
          ...callOf(payment),
        });
        return { raw, hash: keccak256(raw) };
      } catch (error) {
        // The key is in memory and nothing is asked of the network: what fails now fails for ever.
        throw new UnsignablePayment("the payment cannot be signed", { cause: error });
      }
    },

    async broadcast(raw) {
      await client.sendRawTransaction({ serializedTransaction: raw as Hex });
    },
  };
  return withoutUrlInErrors(chain, settings.rpcUrl);

  function callOf(payment: ChainPayment | null): { to: Address; value: bigint; data?: Hex } {
    if (payment === null) return { to: account.address, value: 0n };
    const recipient = getAddress(payment.to);
    const contract = contractOf(payment.coin);
    if (contract === null) return { to: recipient, value: payment.units };
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [recipient, payment.units] });
    return { to: contract, value: 0n, data };
  }
}

function accountOf({ privateKey, network }: EvmSettings): ReturnType<typeof privateKeyToAccount> {
  try {
    return privateKeyToAccount(privateKey as Hex);
  } catch {
    // What went wrong may quote the key.
    throw new Error(`the private key of ${network} must be 0x and 64 hexadecimal digits`);
  }
}

async function absentAsNull<T>(name: string, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof BaseError && error.name === name) return null;
    throw error;
  }
}
