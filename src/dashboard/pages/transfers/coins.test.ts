import { describe, expect, it } from "vitest";
import { explorerLink, isAmount, networkName, networksOf } from "./coins.ts";

describe("coins", () => {
  it.each(["1", "12.5", "0.000000000000000001", "10000"])("takes %s for an amount", (text) => {
    expect(isAmount(text)).toBe(true);
  });

  it.each(["", "0", "0.00", "1,5", "1.000,5", "-1", "1e3", ".5", "5.", " 1", "١"])(
    "does not take %j for one",
    (text) => {
      expect(isAmount(text)).toBe(false);
    },
  );

  it("links a transaction at the explorer of its network, and none of an unknown one", () => {
    expect(explorerLink("ethereum", "transaction", "0xab")).toBe("https://etherscan.io/tx/0xab");
    expect(explorerLink("tron", "address", "T/../x")).toBe("https://tronscan.org/#/address/T%2F..%2Fx");
    expect(explorerLink("moon", "transaction", "0xab")).toBeNull();
    expect(explorerLink("ethereum", "transaction", "")).toBeNull();
  });

  it("shows an unknown network as it is, and leaves it to the server for an unknown currency", () => {
    expect(networkName("moon")).toBe("moon");
    expect(networksOf("MOON")).toEqual([""]);
  });
});
