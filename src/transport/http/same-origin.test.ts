import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createSameOriginCheck, readWebCredentials } from "./same-origin.ts";

function request(method: string, ...rawHeaders: string[]): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  message.method = method;
  message.rawHeaders = rawHeaders;
  return message;
}

const HOST = ["Host", "127.0.0.1:3000"] as const;

test.each<[string, boolean, IncomingMessage]>([
  ["its own Origin", true, request("POST", ...HOST, "Origin", "http://127.0.0.1:3000")],
  ["another Origin", false, request("POST", ...HOST, "Origin", "http://127.0.0.1:3001")],
  ["the Origin of another scheme", false, request("POST", ...HOST, "Origin", "https://127.0.0.1:3000")],
  ["the Origin null", false, request("POST", ...HOST, "Origin", "null")],
  ["no Origin", false, request("POST", ...HOST)],
  ["two Origins", false, request("POST", ...HOST, "Origin", "http://127.0.0.1:3000", "origin", "http://evil.example")],
  ["two Hosts", false, request("POST", ...HOST, "host", "evil.example", "Origin", "http://evil.example")],
  ["the name of this machine", true, request("POST", "Host", "localhost:3000", "Origin", "http://localhost:3000")],
  ["an address of IPv6", true, request("POST", "Host", "[::1]:3000", "Origin", "http://[::1]:3000")],
  [
    "the name that the server listens at",
    true,
    request("POST", "Host", "Saldo.internal", "Origin", "http://saldo.internal"),
  ],
  [
    "the name of a stranger that leads here",
    false,
    request("POST", "Host", "evil.example:3000", "Origin", "http://evil.example:3000", "Sec-Fetch-Site", "same-origin"),
  ],
  [
    "a read by the name of a stranger",
    false,
    request("GET", "Host", "127.0.0.1.evil.example", "Sec-Fetch-Site", "same-origin"),
  ],
  [
    "a name that only begins like ours",
    false,
    request("GET", "Host", "localhost.evil.example", "Sec-Fetch-Site", "same-origin"),
  ],
  ["a read without a Host", false, request("GET", "Sec-Fetch-Site", "same-origin")],
  [
    "its own Origin, but another site by the browser's word",
    false,
    request("POST", ...HOST, "Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "cross-site"),
  ],
  ["a read that the browser calls its own", true, request("GET", ...HOST, "Sec-Fetch-Site", "same-origin")],
  ["a read from a neighbour", false, request("GET", ...HOST, "Sec-Fetch-Site", "same-site")],
  ["a read by the address bar", false, request("GET", ...HOST, "Sec-Fetch-Site", "none")],
  ["a read without the headers", false, request("GET", ...HOST)],
  ["a write that only the browser calls its own", false, request("POST", ...HOST, "Sec-Fetch-Site", "same-origin")],
])("where the Host is our address, %s: %s", (_case, isOwn, message) => {
  expect(createSameOriginCheck(null, "saldo.internal")(message)).toBe(isOwn);
});

test("an address of ours counts and the Host does not", () => {
  const isSameOrigin = createSameOriginCheck("https://saldo.example/", "127.0.0.1");
  expect(isSameOrigin(request("POST", ...HOST, "Origin", "https://saldo.example"))).toBe(true);
  expect(isSameOrigin(request("POST", ...HOST, "Origin", "http://127.0.0.1:3000"))).toBe(false);
  expect(isSameOrigin(request("POST", "Host", "evil.example", "Origin", "http://evil.example"))).toBe(false);
});

test("cookies count from our own pages only; other credentials count from everywhere", () => {
  const headers = ["Cookie", "a=b", "Authorization", "Bearer x", "X-Saldo-Account", "1"];
  const own = request("POST", ...HOST, "Origin", "http://127.0.0.1:3000", ...headers);
  const foreign = request("POST", ...HOST, "Origin", "http://evil.example", ...headers);
  const others = { authorization: "Bearer x", account: "1" };
  expect(readWebCredentials(own, createSameOriginCheck(null, "saldo.internal"))).toMatchObject({
    ...others,
    cookies: "a=b",
  });
  expect(readWebCredentials(foreign, createSameOriginCheck(null, "saldo.internal"))).toMatchObject({
    ...others,
    cookies: null,
  });
  const twice = request("POST", ...HOST, "Origin", "http://127.0.0.1:3000", "Cookie", "a=b", "cookie", "c=d");
  expect(readWebCredentials(twice, createSameOriginCheck(null, "saldo.internal")).cookies).toBeNull();
});
