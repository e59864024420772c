// The names of networks, and their explorers.

const NETWORK_NAMES: Readonly<Record<string, string>> = {
  bitcoin: "Bitcoin",
  litecoin: "Litecoin",
  ethereum: "Ethereum",
  bsc: "BNB Smart Chain",
  tron: "TRON",
  solana: "Solana",
};

/** A network's name in words; an unknown one is shown unchanged. */
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

/** The public page of a transaction or an address. Null: we know no explorer of the network. */
export function explorerLink(network: string, what: "transaction" | "address", id: string): string | null {
  const explorer = EXPLORERS[network];
  return explorer === undefined || id === "" ? null : `${explorer[what]}${encodeURIComponent(id)}`;
}
