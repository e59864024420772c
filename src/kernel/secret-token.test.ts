import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestSecretToken, isSecretToken, newSecretToken, type SecretTokenPrefix } from "./secret-token.ts";

const prefixes: SecretTokenPrefix[] = ["gw_", "st_", "mk_", "sk_", "mk_test_", "sk_test_"];
const allBytes = (value: number) => () => Buffer.alloc(32, value);

describe("a secret token", () => {
  test("is the prefix, 43 characters of randomness and 6 of checksum", () => {
    for (const prefix of prefixes) {
      const token = newSecretToken(prefix);
      expect(token).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
      expect(isSecretToken(token, prefix)).toBe(true);
    }
  });

  test("keeps its length for the smallest and the largest random value, and keeps them distinct", () => {
    const smallest = newSecretToken("gw_", allBytes(0));
    const largest = newSecretToken("gw_", allBytes(255));
    expect(smallest).toMatch(/^gw_0{43}/);
    expect(largest).toHaveLength(smallest.length);
    expect(largest).not.toBe(smallest);
  });

  test("differs for different random bytes and is never repeated", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(255), fc.nat(31), (bytes, other, at) => {
        const changed = Buffer.from(bytes);
        changed[at] = other;
        const same = Buffer.from(bytes).equals(changed);
        const tokens = [Buffer.from(bytes), changed].map((random) => newSecretToken("gw_", () => random));
        expect(tokens[0] === tokens[1]).toBe(same);
      }),
    );
    expect(new Set(Array.from({ length: 1000 }, () => newSecretToken("sk_"))).size).toBe(1000);
  });

  test("is no token of another kind or environment", () => {
    for (const prefix of prefixes) {
      const token = newSecretToken(prefix);
      for (const other of prefixes) expect(isSecretToken(token, other)).toBe(other === prefix);
    }
    const sandbox = newSecretToken("mk_test_");
    expect(isSecretToken(`mk_${sandbox.slice("mk_test_".length)}`, "mk_")).toBe(false);
  });

  test("is refused when any one character was mistyped", () => {
    const token = newSecretToken("gw_");
    for (let at = "gw_".length; at < token.length; at++) {
      const typo = token.slice(0, at) + (token[at] === "x" ? "y" : "x") + token.slice(at + 1);
      expect(isSecretToken(typo, "gw_")).toBe(false);
    }
  });

  test("is not recognized in a text that is longer, shorter or of other characters", () => {
    const token = newSecretToken("gw_");
    for (const text of [
      "",
      "gw_",
      token.slice(0, -1),
      `${token}0`,
      ` ${token}`,
      `${token}\n`,
      token.replace(/.$/, "é"),
    ]) {
      expect(isSecretToken(text, "gw_")).toBe(false);
    }
  });

  test("is stored as SHA-256 of all of it", () => {
    const token = newSecretToken("gw_");
    expect(digestSecretToken(token)).toEqual(createHash("sha256").update(token, "utf8").digest());
  });
});
