import { expect, test } from "vitest";
import { isPrivateAddress, kindOfHost } from "./private-address.ts";

const kind = (url: string) => kindOfHost(new URL(url).hostname);

test("knows the addresses that are not of the public internet", () => {
  const inside = ["127.0.0.1", "10.1.2.3", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"];
  const inside6 = ["::1", "::", "fd00::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1"];
  const embedded = ["::127.0.0.1", "::10.0.0.1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fec0::1"];
  const unused = ["100::1", "192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1"];
  expect([...inside, ...inside6, ...embedded, ...unused].filter((address) => !isPrivateAddress(address))).toEqual([]);
});

test("lets addresses of the public internet and names pass", () => {
  const outside = ["8.8.8.8", "172.32.0.1", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "api.example.com", ""];
  expect(outside.filter((address) => isPrivateAddress(address))).toEqual([]);
});

test("tells hosts of URLs apart as the URL parser writes them", () => {
  expect(
    ["http://localhost:1", "http://x.localhost", "http://[::1]/", "http://0x7f.1/", "http://2130706433"].map(kind),
  ).toEqual(Array(5).fill("private"));
  expect(kind("https://8.8.8.8")).toBe("public");
  expect(kind("https://api.example.com")).toBe("name");
});
