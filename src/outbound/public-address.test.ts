import { expect, test } from "vitest";
import { isLoopbackHost, isPrivateAddress, kindOfHost } from "./public-address.ts";

const hostOf = (url: string) => new URL(url).hostname;
const PUBLIC = [
  "8.8.8.8",
  "172.15.255.255",
  "172.32.0.1",
  "100.63.255.255",
  "100.128.0.0",
  "169.253.255.255",
  "192.88.98.255",
  "198.17.255.255",
  "223.255.255.255",
  "2606:4700::1111",
  "2001:200::1",
  "2003::1",
  "::ffff:8.8.8.8",
];
const PRIVATE = `
  127.0.0.1 127.255.255.255 10.1.2.3 172.16.0.0 172.31.255.255 192.168.0.1 0.0.0.0 0.1.2.3 169.254.169.254
  100.64.0.0 100.127.255.255 100.100.100.200 192.0.0.192 192.88.99.1 198.19.0.1 224.0.0.1 239.255.255.255
  240.0.0.1 255.255.255.255 192.0.2.1 198.51.100.7 203.0.113.9 :: ::1 fd00::1 fd00:ec2::254 fc00::1 fe80::1
  fe80::1%eth0 febf::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:0:127.0.0.1
  ::127.0.0.1 ::10.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::a00:1 2002:7f00:1:: 2002:a00:1::1 100::1
  2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 3fff::1 5f00::1 4000::1 e000::1
`
  .trim()
  .split(/\s+/);

test("refuses the addresses that are not of the public internet", () => {
  expect(PRIVATE.filter((address) => !isPrivateAddress(address))).toEqual([]);
});

test("accepts addresses of the public internet, and names", () => {
  expect([...PUBLIC, "api.example.com", ""].filter((address) => isPrivateAddress(address))).toEqual([]);
});

test("distinguishes hosts of URLs as the URL parser writes them", () => {
  const inside = ["http://localhost:1", "http://x.localhost.", "http://[::1]/", "http://0x7f.1/", "http://2130706433"];
  const dressed = [
    "http://0177.0.0.1",
    "http://127.1",
    "http://[::ffff:127.0.0.1]",
    "http://①②⑦.0.0.1",
    "http://LOCALHOST",
  ];
  expect([...inside, ...dressed].filter((url) => kindOfHost(hostOf(url)) !== "private")).toEqual([]);
  expect([...inside, ...dressed].filter((url) => !isLoopbackHost(hostOf(url)))).toEqual([]);
  expect(kindOfHost(hostOf("https://8.8.8.8"))).toBe("public");
  expect(kindOfHost(hostOf("https://api.example.com"))).toBe("name");
});

test("calls only this machine loopback", () => {
  expect(
    ["10.0.0.1", "169.254.169.254", "[fd00::1]", "0.0.0.0", "localhost.example.com"].filter(isLoopbackHost),
  ).toEqual([]);
});
