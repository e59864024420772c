// How networks are called, and where their chains can be looked at.

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
