import { expect, test } from "vitest";
import { networkOf, wideNetworkOf } from "./client-network.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2:ffff::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  // Other ways to write the same, and what proxies put into X-Forwarded-For.
  ["2001:0db8:0001:0002::1", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:0:0:203.0.113.7", "2001:db8:1:2::/64"],
  ["0:0:0:0:0:ffff:203.0.113.7", "203.0.113.7"],
  ["::FFFF:cb00:7107", "203.0.113.7"],
  ["203.0.113.7:50123", "203.0.113.7"],
  ["[2001:db8:1:2::3]:50123", "2001:db8:1:2::/64"],
  ["[2001:db8:1:2::3]", "2001:db8:1:2::/64"],
  ["unknown", "unknown"],
  ["_hidden-17", "unknown"],
  ["203.0.113.7:50123:1", "unknown"],
  ["", "unknown"],
])("counts %s as %s", (address, network) => expect(networkOf(address)).toBe(network));

test.each([
  ["203.0.113.7", "203.0.113.0/24"],
  ["::ffff:203.0.113.7", "203.0.113.0/24"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["::1", "0:0:0::/48"],
  ["203.0.113.7:50123", "203.0.113.0/24"],
  ["2001:0DB8:0001:2::1", "2001:db8:1::/48"],
  ["_hidden-17", "unknown"],
])("counts refused credentials of %s for %s", (address, network) => expect(wideNetworkOf(address)).toBe(network));
