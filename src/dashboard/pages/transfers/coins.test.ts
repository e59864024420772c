import { describe, expect, it } from "vitest";
import { explorerLink, networkName } from "./coins.ts";

describe("coins", () => {
  it("links a transaction to its network's explorer, and nothing for an unknown network", () => {
    expect(explorerLink("ethereum", "transaction", "0xab")).toBe("https://etherscan.io/tx/0xab");
    expect(explorerLink("tron", "address", "T/../x")).toBe("https://tronscan.org/#/address/T%2F..%2Fx");
    expect(explorerLink("moon", "transaction", "0xab")).toBeNull();
    expect(explorerLink("ethereum", "transaction", "")).toBeNull();
  });

  it("shows an unknown network's name unchanged", () => {
    expect(networkName("moon")).toBe("moon");
  });
});
