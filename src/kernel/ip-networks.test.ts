import { describe, expect, it } from "vitest";
import { networkTest, parseIpNetwork, plainAddress } from "./ip-networks.ts";

describe("networks", () => {
  it.each([
    ["203.0.113.0/24", { address: "203.0.113.0", version: 4, bits: 24 }],
    ["203.0.113.7", { address: "203.0.113.7", version: 4, bits: 32 }],
    ["0.0.0.0/0", { address: "0.0.0.0", version: 4, bits: 0 }],
    ["2001:DB8::/32", { address: "2001:DB8::", version: 6, bits: 32 }],
    ["::1", { address: "::1", version: 6, bits: 128 }],
  ])("are read as written: %s", (text, network) => {
    expect(parseIpNetwork(text)).toEqual(network);
  });

  it.each([
    ["", "203.0.113.0/33", "203.0.113/24", "203.0.113.0/-1", "203.0.113.0/", "203.0.113.0/024", "2001:db8::/129"],
    ["example.com", "::ffff:203.0.113.7", "::ffff:cb00:7107/120", "fe80::1%eth0", "203.0.113.7:80", " 203.0.113.7"],
  ])("are not these: %s, %s, …", (...texts) => {
    expect(texts.filter((text) => parseIpNetwork(text) !== null)).toEqual([]);
  });

  it("have the addresses of both families, whatever their notation", () => {
    const isAllowed = networkTest(["203.0.113.0/24", "198.51.100.7", "2001:db8:1::/48", "10.1.2.3/8"]);
    const inside =
      "203.0.113.0 203.0.113.255 198.51.100.7 203.0.113.9:50123 10.255.0.1 ::ffff:203.0.113.9 ::FFFF:cb00:7109 " +
      "0:0:0:0:0:ffff:203.0.113.9 [::ffff:203.0.113.9]:443 2001:db8:1:: 2001:0DB8:0001:ffff::1 [2001:db8:1::9]:443 " +
      "2001:db8:1::9%eth0";
    const outside =
      "203.0.112.255 203.0.114.0 198.51.100.8 ::ffff:203.0.114.9 ::203.0.113.9 11.0.0.1 2001:db8:2::1 ::1 unknown " +
      "203.0.113 203.0.113.9,203.0.113.9 example.com";
    expect(inside.split(" ").filter((address) => !isAllowed(address))).toEqual([]);
    expect(["", ...outside.split(" ")].filter(isAllowed)).toEqual([]);
  });

  it("of all addresses of a family have none of the other", () => {
    expect(["203.0.113.9", "::ffff:203.0.113.9", "2001:db8::1"].map(networkTest(["0.0.0.0/0"]))).toEqual([
      true,
      true,
      false,
    ]);
    expect(["203.0.113.9", "::ffff:203.0.113.9", "2001:db8::1"].map(networkTest(["::/0"]))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("are compared with the address that a proxy names", () => {
    expect(plainAddress("[::ffff:7f00:1]:8080")).toBe("127.0.0.1");
    expect(plainAddress("2001:db8::1")).toBe("2001:db8::1");
  });
});
