import { describe, expect, test } from "vitest";
import { ValidationError } from "../kernel/errors.ts";
import { checkCallbackUrl, type CallbackUrlRules } from "./callback-url.ts";
import { retryAfterMs } from "./deliver-callbacks.ts";
import { signatureOf } from "./send-callback.ts";

const production: CallbackUrlRules = { environment: "production", allowLoopback: true };
const sandbox: CallbackUrlRules = { environment: "sandbox", allowLoopback: false };
const trial: CallbackUrlRules = { environment: "sandbox", allowLoopback: true };

/** The rule an address breaks; "" when it may be called. */
function brokenRule(text: string, rules: CallbackUrlRules): string {
  try {
    checkCallbackUrl(text, rules);
    return "";
  } catch (error) {
    if (error instanceof ValidationError) return error.details[0]?.rule ?? "?";
    throw error;
  }
}

describe("an address to call", () => {
  test("is of the public internet, and https in production", () => {
    for (const rules of [production, sandbox, trial]) {
      expect(brokenRule("https://shop.example.com/hooks?id=7", rules)).toBe("");
      for (const port of ["", ":80", ":443", ":1024", ":8443", ":65535"]) {
        expect(brokenRule(`https://8.8.8.8${port}/`, rules)).toBe("");
      }
    }
    expect(brokenRule("http://shop.example.com/", production)).toBe("url.https");
    expect(brokenRule("http://shop.example.com/", sandbox)).toBe("");
  });

  test.each([
    ["", "url.form"],
    ["shop.example.com", "url.form"],
    ["ftp://shop.example.com/", "url.form"],
    ["file:///etc/passwd", "url.form"],
    ["javascript:alert(1)", "url.form"],
    ["https://", "url.form"],
    ["https://user@shop.example.com/", "url.credentials"],
    ["https://:password@shop.example.com/", "url.credentials"],
    ["https://shop.example.com/#part", "url.fragment"],
    ["https://shop.example.com:22/", "url.port"],
    ["https://shop.example.com:25/", "url.port"],
    ["https://shop.example.com:0/", "url.port"],
    ["https://shop.example.com:1023/", "url.port"],
    ["https://169.254.169.254/latest/meta-data", "url.private"],
    ["https://10.0.0.1/", "url.private"],
    ["https://[fd00::1]/", "url.private"],
    ["https://[::ffff:10.0.0.1]/", "url.private"],
    ["https://0.0.0.0/", "url.private"],
  ])("%j breaks %s", (text, rule) => {
    for (const rules of [production, sandbox, trial]) expect(brokenRule(text, rules)).toBe(rule);
  });

  test("is on a host of the list, where there is one", () => {
    const hosts = ["shop.example.com", "*.partner.example"];
    for (const rules of [production, sandbox, trial].map((each) => ({ ...each, hosts }))) {
      for (const host of ["shop.example.com", "SHOP.example.com", "a.partner.example", "a.b.partner.example"])
        expect(brokenRule(`https://${host}/hooks`, rules)).toBe("");
      for (const host of ["example.com", "x.shop.example.com", "partner.example", "notpartner.example", "8.8.8.8"])
        expect([host, brokenRule(`https://${host}/`, rules)]).toEqual([host, "url.host"]);
      expect(brokenRule("https://shop.example.com.evil.example/", rules)).toBe("url.host");
    }
    expect(brokenRule("http://127.0.0.1:4000/", { ...trial, hosts })).toBe("");
  });

  test("is this machine only for trials in the sandbox", () => {
    for (const text of ["http://127.0.0.1:4000/", "http://localhost:4000/", "http://[::1]:4000/", "https://0x7f.1/"]) {
      expect([brokenRule(text, trial), brokenRule(text, sandbox)]).toEqual(["", "url.private"]);
    }
    expect(brokenRule("https://localhost:4000/", production)).toBe("url.private");
  });
});

describe("a callback", () => {
  test("is signed over its time and its body", () => {
    // By another tool: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
    expect(signatureOf('{"a":1}', { secret: "secret", unixSeconds: 1_700_000_000 })).toBe(
      "t=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686",
    );
  });

  test("is tried again after 15 seconds, and at last every hour, a little sooner by chance", () => {
    expect([1, 2, 3, 9, 10, 1_000].map((attempt) => retryAfterMs(attempt, () => 0))).toEqual([
      15_000, 30_000, 60_000, 3_600_000, 3_600_000, 3_600_000,
    ]);
    expect(retryAfterMs(1, () => 0.999_999)).toBe(7_500);
  });
});
