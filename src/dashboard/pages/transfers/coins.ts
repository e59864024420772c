// What the forms offer to choose. Which of these a merchant may really send is the server's to say: it refuses the others.

type Networks = readonly [string, ...string[]];

// The first network of a currency is its usual one.
const NETWORKS: Readonly<Record<string, Networks>> = {
  TRX: ["tron"],
  USDT: ["tron", "ethereum", "bsc", "solana"],
  USDC: ["ethereum", "bsc", "solana", "tron"],
  BTC: ["bitcoin"],
  ETH: ["ethereum"],
  BNB: ["bsc"],
  SOL: ["solana"],
  LTC: ["litecoin"],
};

/** The codes of currencies, as a form offers them. */
export const CURRENCIES: readonly string[] = Object.keys(NETWORKS);

/** The networks of a currency, the one that is offered first before the others. */
export function networksOf(currencyCode: string): Networks {
  return NETWORKS[currencyCode] ?? [""];
}

const NETWORK_NAMES: Readonly<Record<string, string>> = {
  bitcoin: "Bitcoin",
  litecoin: "Litecoin",
  ethereum: "Ethereum",
  bsc: "BNB Smart Chain",
  tron: "TRON",
  solana: "Solana",
};

/** A network's name for people; one that this page does not know is shown as it is. */
export function networkName(network: string): string {
  return NETWORK_NAMES[network] ?? network;
}

const EXPLORERS: Readonly<Record<string, { readonly transaction: string; readonly address: string }>> = {
  bitcoin: { transaction: "https://mempool.space/tx/", address: "https://mempool.space/address/" },
  litecoin: { transaction: "https://litecoinspace.org/tx/", address: "https://litecoinspace.org/address/" },
  ethereum: { transaction: "https://etherscan.io/tx/", address: "https://etherscan.io/address/" },
  bsc: { transaction: "https://bscscan.com/tx/", address: "https://bscscan.com/address/" },
  tron: { transaction: "https://tronscan.org/#/transaction/", address: "https://tronscan.org/#/address/" },
  solana: { transaction: "https://solscan.io/tx/", address: "https://solscan.io/account/" },
};

/** Where anybody can look a transaction or an address up. Null: the network has no explorer that we know. */
export function explorerLink(network: string, what: "transaction" | "address", id: string): string | null {
  const explorer = EXPLORERS[network];
  return explorer === undefined || id === "" ? null : `${explorer[what]}${encodeURIComponent(id)}`;
}
