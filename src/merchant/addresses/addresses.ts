// Checks the address of a transfer by the form of its network, including a checksum where the form has one, and returns
// its one normal form. Coins sent to a wrong address do not come back, so an ambiguous address is refused.

import { AddressInvalid, CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { readBitcoinAddress, readLitecoinAddress } from "./bitcoin.ts";
import { readEvmAddress } from "./evm.ts";
import { knownContracts } from "./known-contracts.ts";
import { readSolanaAddress } from "./solana.ts";
import { readTronAddress } from "./tron.ts";
import { coins, findCoin, type Network } from "../chains/currencies.ts";
import type { ReadAddress } from "./read-address.ts";

/** Longer than any valid address. */
const MAX_ADDRESS_CHARACTERS = 128;

const readers: Readonly<Record<Network, ReadAddress>> = {
  bitcoin: readBitcoinAddress,
  litecoin: readLitecoinAddress,
  ethereum: readEvmAddress,
  bsc: readEvmAddress,
  tron: readTronAddress,
  solana: readSolanaAddress,
};
const networks = [...new Set(coins.map((coin) => coin.network))];

export type AddressRequest = {
  readonly currencyCode: string;
  /** Empty: derived from the currency and the address. */
  readonly network: string;
  readonly address: string;
  /** Addresses that are never paid, besides those of known tokens, as `forbiddenAddresses` returns them. */
  readonly forbidden: ReadonlySet<string>;
};

/**
 * Checks the destination of a transfer of a currency. An address that several networks share, such as `0x…` for a token
 * of both ethereum and bsc, gets the network that is first in the table of currencies. Errors: AddressInvalid,
 * CurrencyUnsupported.
 */
export function checkAddress(request: AddressRequest): { network: Network; normalized: string } {
  const { address, currencyCode, forbidden } = request;
  const candidates = candidatesOf(currencyCode, request.network);
  checkText(address);
  for (const network of candidates) {
    const read = readers[network](address);
    if (!("normalized" in read)) continue;
    const { normalized } = read;
    if (forbidden.has(normalized) || knownTokens.has(normalized)) {
      throw new AddressInvalid("This address may not be paid: it is one of a token's contract or of this service.");
    }
    return { network, normalized };
  }
  throw new AddressInvalid(whatIsWrong(address, candidates));
}

/**
 * The addresses of our own wallets and of token contracts, in the form that `checkAddress` compares. Errors:
 * AddressInvalid.
 */
export function forbiddenAddresses(
  own: Iterable<{ readonly network: Network; readonly address: string }>,
): ReadonlySet<string> {
  const normalized = new Set<string>();
  for (const { network, address } of own) {
    const read = readers[network](address);
    if (!("normalized" in read)) throw new AddressInvalid(sentence(network, read.problem));
    normalized.add(read.normalized);
  }
  return normalized;
}

/** Known contracts are listed in their normal form. */
const knownTokens: ReadonlySet<string> = new Set(knownContracts.map(({ address }) => address));

function candidatesOf(currencyCode: string, network: string): Network[] {
  if (network !== "") return [findCoin(currencyCode, network).network];
  const candidates = coins.filter((coin) => coin.currencyCode === currencyCode).map((coin) => coin.network);
  if (candidates.length === 0) throw new CurrencyUnsupported();
  return candidates;
}

/** Refuses what is invalid on every network. Errors: AddressInvalid. */
function checkText(address: string): void {
  if (address === "") throw new AddressInvalid("The address is empty.");
  if (address.length > MAX_ADDRESS_CHARACTERS) {
    throw new AddressInvalid(`The address is longer than ${MAX_ADDRESS_CHARACTERS} characters.`);
  }
  if (/\s/.test(address)) throw new AddressInvalid("The address has a space or a line break in it.");
  if (!/^[\x21-\x7e]+$/.test(address)) {
    throw new AddressInvalid("The address has characters that only look like plain letters and digits.");
  }
}

/** Why no candidate accepts the address: it belongs to another network, or the problem on the network it resembles. */
function whatIsWrong(address: string, candidates: readonly Network[]): string {
  const others = networks.filter((network) => "normalized" in readers[network](address));
  if (others.length > 0) return `This is an address of ${others.join(" or ")}, not of ${candidates.join(" or ")}.`;
  const likely = candidates.find((network) => looks[network].test(address)) ?? candidates[0];
  if (likely === undefined || (candidates.length > 1 && !looks[likely].test(address))) {
    return `This is not an address of ${candidates.join(" or ")}.`;
  }
  const read = readers[likely](address);
  return sentence(likely, "problem" in read ? read.problem : "");
}

/** How addresses of each network begin, to find the network that was probably meant. */
const looks: Readonly<Record<Network, RegExp>> = {
  bitcoin: /^(bc1|[13])/i,
  litecoin: /^(ltc1|[LM3])/i,
  ethereum: /^0x/i,
  bsc: /^0x/i,
  tron: /^T/,
  solana: /^[1-9A-HJ-NP-Za-km-z]{40,48}$/,
};

function sentence(network: Network, problem: string): string {
  return `This is not an address of ${network}: ${problem}.`;
}
