import { describe, expect, it } from "vitest";
import { explorerLink, networkName } from "./coins.ts";

describe("coins", () => {
  it("links a transaction at the explorer of its network, and none of an unknown one", () => {
    expect(explorerLink("ethereum", "transaction", "0xab")).toBe("https://etherscan.io/tx/0xab");
    expect(explorerLink("tron", "address", "T/../x")).toBe("https://tronscan.org/#/address/T%2F..%2Fx");
    expect(explorerLink("moon", "transaction", "0xab")).toBeNull();
    expect(explorerLink("ethereum", "transaction", "")).toBeNull();
  });

  it("shows an unknown network as it is", () => {
    expect(networkName("moon")).toBe("moon");
  });
});
