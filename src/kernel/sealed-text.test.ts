import { afterEach, expect, it } from "vitest";
import { isSealedNow, openText, sealText, SecretUnreadable, useSecretsKeys } from "./sealed-text.ts";

const [FORMER, NEWER] = ["f".repeat(32), "n".repeat(32)];
const SECRET = "cs_a secret with signs: ä";

afterEach(() => useSecretsKeys([]));

it("stores a text as it is without a key, and reads that later with one", () => {
  expect(sealText("a", SECRET)).toBe(SECRET);
  expect(isSealedNow(SECRET)).toBe(true);
  useSecretsKeys([NEWER]);
  expect(openText("a", SECRET)).toBe(SECRET);
  expect(isSealedNow(SECRET)).toBe(false);
});

it("encrypts under the first key and decrypts with all", () => {
  useSecretsKeys([FORMER]);
  const before = sealText("a", SECRET);
  expect(before).not.toContain("secret");
  expect(sealText("a", SECRET)).not.toBe(before);
  useSecretsKeys([NEWER, FORMER]);
  expect(openText("a", before)).toBe(SECRET);
  const after = sealText("a", SECRET);
  expect([before, after].map(isSealedNow)).toEqual([false, true]);
  useSecretsKeys([NEWER]);
  expect(openText("a", after)).toBe(SECRET);
  expect(() => openText("a", before)).toThrow(/not in SALDO_SECRETS_KEY/);
});

it("opens nothing that was changed, or that belongs to another row", () => {
  useSecretsKeys([FORMER]);
  const sealed = sealText("a", SECRET);
  expect(() => openText("b", sealed)).toThrow(SecretUnreadable);
  const flipped = sealed.slice(0, -2) + (sealed.at(-2) === "A" ? "B" : "A") + sealed.slice(-1);
  expect(() => openText("a", flipped)).toThrow(SecretUnreadable);
  // A token that a person chose is no sealed text, even with the same beginning.
  expect(openText("a", "sealed:1:mine")).toBe("sealed:1:mine");
});
