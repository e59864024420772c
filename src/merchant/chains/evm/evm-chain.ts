// A chain of the Ethereum kind through viem: its native coin and ERC-20 tokens, with EIP-1559 fees. It holds no state;
// nonces come from the engine. Nothing here is retried: the engine calls again in its next round.

import {
  createPublicClient,
  encodeFunctionData,
  getAddress,
  http,
  isAddress,
  isAddressEqual,
  parseEventLogs,
  type Address,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
} from "viem";
import { parseDecimal } from "../../../kernel/decimal.ts";
import { invariant } from "../../../kernel/invariant.ts";
import { type Coin, findCoin, type Network } from "../currencies.ts";
import {
  type ChainHead,
  type ChainPayment,
  type FeeOffer,
  type MinedTransaction,
  type NonceHolder,
  type PayoutChain,
  replacingFee,
  type SeenTransaction,
} from "../payout-chain.ts";
import { absentAsNull, type BlockName, Finality, type FinalityRule, type Verdict } from "./finality.ts";
import { TOKEN_ABI } from "./token-abi.ts";
import { openWallet, type OutsideSigner } from "./wallet.ts";
import { signTransaction } from "./sign-transaction.ts";
import { withoutUrlInErrors } from "./node-error.ts";
import { readTransaction } from "./found-transaction.ts";
import { findNonceHolder } from "./nonce-holder.ts";

/** The networks of this adapter, and the coin in which each takes its fees. */
export const nativeCurrencies = { ethereum: "ETH", bsc: "BNB" } as const satisfies Partial<Record<Network, string>>;
export type EvmNetwork = keyof typeof nativeCurrencies;

export type EvmSettings = {
  readonly network: EvmNetwork;
  readonly rpcUrl: string;
  readonly chainId: number;
  /** 0x and 64 hexadecimal digits, or the address of the wallet: then nothing is signed without a signer. */
  readonly privateKey: string;
  /** What has the wallet's key outside this process. */
  readonly signer?: OutsideSigner;
  /** The contract of each token, by currency code. */
  readonly tokens: Readonly<Record<string, string>>;
  /** How many blocks make a transaction final, its own included; or the chain's own finality. */
  readonly finality: FinalityRule;
  /**
   * A node of another provider, which has to agree before a large payment counts as final. Absent: no second node is
   * asked.
   */
  readonly second?: SecondNode;
  /** The most that is offered, in gwei. */
  readonly maxFeeGwei: number;
  /** A node that takes longer counts as not answering. */
  readonly timeoutMs: number;
};

export type SecondNode = {
  readonly rpcUrl: string;
  /**
   * Payments above so many whole coins need the second node's agreement, by currency; every payment of a currency that
   * is not named.
   */
  readonly above: Readonly<Record<string, string>>;
};

/**
 * The gas limit of a transaction. Plain payments use 21 000 and tokens well below; an unused limit costs nothing, and
 * with a fixed one signing needs no network.
 */
export const GAS_LIMIT = 120_000n;
const GWEI = 1_000_000_000n;
/** A transaction and its block. `payment` is absent where the transaction is not ours. */
type SeenBlock = {
  readonly hash: string;
  readonly block: BlockName;
  readonly payment?: ChainPayment | null;
  readonly succeeded?: boolean;
};

/** Makes the chain, without calling the network. Errors: an invalid key or address. */
export function createEvmChain(settings: EvmSettings): PayoutChain {
  const { network, chainId } = settings;
  const wallet = openWallet(settings.privateKey, network, settings.signer);
  const nativeCode = nativeCurrencies[network];
  const native = findCoin(nativeCode, network);
  const tokens = new Map(Object.entries(settings.tokens).map(([code, address]) => [code, tokenOf(code, address)]));
  const clientOf = (rpcUrl: string): PublicClient =>
    createPublicClient({ transport: http(rpcUrl, { timeout: settings.timeoutMs, retryCount: 0 }), cacheTime: 0 });
  const client = clientOf(settings.rpcUrl);
  const finality = new Finality(client, settings.finality);
  const second = settings.second === undefined ? null : clientOf(settings.second.rpcUrl);
  const secondAbove = new Map(
    Object.entries(settings.second?.above ?? {}).map(([code, amount]) => [
      code,
      parseDecimal(amount, findCoin(code, network).decimals),
    ]),
  );

  function tokenOf(code: string, address: string): { readonly coin: Coin; readonly address: Address } {
    if (code === nativeCode) throw new Error(`${code} is the coin of ${network} itself and has no contract`);
    if (!isAddress(address)) throw new Error(`${address}, the contract of ${code}, is no address of ${network}`);
    return { coin: findCoin(code, network), address: getAddress(address) };
  }

  /** The contract of a currency; null: it is the native coin. */
  function contractOf({ currencyCode }: Coin): Address | null {
    if (currencyCode === nativeCode) return null;
    const token = tokens.get(currencyCode);
    invariant(token !== undefined, "a payment is of a currency that its chain can send");
    return token.address;
  }

  /** Whether a mined transaction delivered its payment. */
  function outcomeOf(
    receipt: TransactionReceipt,
    payment: ChainPayment | null,
  ): Pick<MinedTransaction, "succeeded" | "isShort"> {
    if (receipt.status !== "success") return { succeeded: false };
    const contract = payment === null ? null : contractOf(payment.coin);
    if (payment === null || contract === null) return { succeeded: true };
    // A token may return false without reverting, or keep a part of the amount. The delivered amount counts.
    const delivered = parseEventLogs({ abi: TOKEN_ABI, eventName: "Transfer", logs: receipt.logs })
      .filter(
        (log) =>
          isAddressEqual(log.address, contract) &&
          isAddressEqual(log.args.from, wallet.address) &&
          isAddressEqual(log.args.to, payment.to as Address),
      )
      .reduce((sum, log) => sum + log.args.value, 0n);
    return delivered > 0n && delivered < payment.units
      ? { succeeded: false, isShort: true }
      : { succeeded: delivered >= payment.units };
  }

  /** Whether a transaction's block is final, by the second node too where the payment needs that. */
  async function judge(transaction: SeenBlock, head: ChainHead): Promise<Verdict> {
    const verdict = await finality.judge(transaction.block, head);
    if (!verdict.isFinal || second === null || !needsSecond(transaction.payment)) return verdict;
    const judged = await judgeBySecond(second, transaction);
    return { isFinal: judged === true, doubt: typeof judged === "string" ? judged : null };
  }

  function needsSecond(payment: ChainPayment | null | undefined): boolean {
    // Such a transaction fills a nonce, has taken one from us, or leads to a refund or a second payment.
    if (payment === null || payment === undefined) return true;
    const above = secondAbove.get(payment.coin.currencyCode);
    return above === undefined || payment.units > above;
  }

  /** True: it agrees. False: it has no answer yet. A text: it contradicts. */
  async function judgeBySecond(
    node: PublicClient,
    { hash, block, payment, succeeded }: SeenBlock,
  ): Promise<boolean | string> {
    const other = new Finality(node, settings.finality);
    const head = await other.head();
    const { isFinal, doubt } = await other.judge(block, head);
    if (doubt !== null) return `the second node: ${doubt}`;
    if (!isFinal) {
      const isOther = block.number <= head.final && (await other.hasBlock(block, head)) === false;
      return isOther ? `the second node has another block ${block.number}` : false;
    }
    const receipt = await receiptOf(node, hash);
    if (receipt === null || receipt.blockHash !== block.hash)
      return "the second node does not have the transaction there";
    const agrees = payment === undefined || outcomeOf(receipt, payment).succeeded === succeeded;
    return agrees || "the second node reports another outcome of the transaction";
  }

  const chain: PayoutChain = {
    name: network,
    wallet: wallet.address,
    feeCoin: native,
    currencies: [nativeCode, ...tokens.keys()],
    tokens: Object.fromEntries([...tokens].map(([code, { address }]) => [code, address])),
    ownAddresses: [wallet.address, ...[...tokens.values()].map(({ address }) => address)],

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

    head: () => finality.head(),

    async find({ hash, payment }, head): Promise<SeenTransaction> {
      const receipt = await receiptOf(client, hash);
      if (receipt === null) {
        const known = await absentAsNull("TransactionNotFoundError", () =>
          client.getTransaction({ hash: hash as Hex }),
        );
        return { status: known === null ? "unknown" : "pending" };
      }
      const block = { number: Number(receipt.blockNumber), hash: receipt.blockHash };
      const outcome = outcomeOf(receipt, payment);
      const { isFinal, doubt } = await judge({ hash, block, payment, succeeded: outcome.succeeded }, head);
      return {
        status: "mined",
        block,
        confirmations: Math.max(head.latest - block.number + 1, 1),
        isFinal,
        ...(doubt === null ? {} : { doubt }),
        ...outcome,
        feePaid: receipt.gasUsed * receipt.effectiveGasPrice,
      };
    },

    hasBlock: (block, head) => finality.hasBlock(block, head),

    nextNonce: () => client.getTransactionCount({ address: wallet.address, blockTag: "latest" }),

    pendingNonce: () => client.getTransactionCount({ address: wallet.address, blockTag: "pending" }),

    async holderOf(nonce, head): Promise<NonceHolder | null> {
      const found = await findNonceHolder(client, { address: wallet.address, nonce, latest: head.latest });
      if (found === null) return null;
      const { isFinal } = await judge({ hash: found.hash, block: found.block }, head);
      return { hash: found.hash, isFinal, transaction: readTransaction(found.transaction, { native, tokens }) };
    },

    balance(coin) {
      const address = contractOf(coin);
      if (address === null) return client.getBalance({ address: wallet.address });
      return client.readContract({ address, abi: TOKEN_ABI, functionName: "balanceOf", args: [wallet.address] });
    },

    async suggestFee(replaced): Promise<FeeOffer | null> {
      const [{ baseFeePerGas }, priority] = await Promise.all([
        client.getBlock(),
        client.estimateMaxPriorityFeePerGas(),
      ]);
      const cap = BigInt(settings.maxFeeGwei) * GWEI;
      // The base fee may rise by an eighth with each block; twice the base fee covers six full ones.
      const most = (baseFeePerGas ?? 0n) * 2n + priority;
      const suggested = { most: most < cap ? most : cap, priority: priority < cap ? priority : cap };
      if (replaced === null) return suggested;
      const raised = replacingFee(replaced, suggested);
      return raised.most <= cap ? raised : null;
    },

    mostCost: ({ most }) => GAS_LIMIT * most,

    async checkSigner() {
      await wallet.signer?.check();
    },

    signerTrouble: () => wallet.signer?.trouble ?? null,

    sign: ({ nonce, payment, fee }) =>
      signTransaction(wallet, () => ({
        type: "eip1559",
        chainId,
        nonce,
        gas: GAS_LIMIT,
        maxFeePerGas: fee.most,
        maxPriorityFeePerGas: fee.priority,
        ...callOf(payment),
      })),

    async broadcast(raw) {
      await client.sendRawTransaction({ serializedTransaction: raw as Hex });
    },
  };
  return withoutUrlInErrors(chain, [
    settings.rpcUrl,
    ...(settings.second === undefined ? [] : [settings.second.rpcUrl]),
  ]);

  function callOf(payment: ChainPayment | null): { to: Address; value: bigint; data?: Hex } {
    if (payment === null) return { to: wallet.address, value: 0n };
    const recipient = getAddress(payment.to);
    const contract = contractOf(payment.coin);
    if (contract === null) return { to: recipient, value: payment.units };
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [recipient, payment.units] });
    return { to: contract, value: 0n, data };
  }
}

/** The receipt of a transaction, which must be its own; null: the node has none. */
async function receiptOf(client: PublicClient, hash: string): Promise<TransactionReceipt | null> {
  const receipt = await absentAsNull("TransactionReceiptNotFoundError", () =>
    client.getTransactionReceipt({ hash: hash as Hex }),
  );
  if (receipt !== null && receipt.transactionHash !== hash) throw new Error("the node answered with another receipt");
  return receipt;
}
