import { afterEach, expect, it } from "vitest";
import {
  openText,
  resealText,
  type SealedForm,
  sealedPrefix,
  sealText,
  SecretUnreadable,
  unknownKeyOf,
  useSecretsKeys,
} from "./sealed-text.ts";

const [FORMER, NEWER] = ["f".repeat(32), "n".repeat(32)];
const SECRET = "cs_a secret with signs: ä";
const FORMS = ["envelope", "former"] as const;

afterEach(() => useSecretsKeys([]));

const isNow = (stored: string, form: SealedForm): boolean => stored.startsWith(sealedPrefix(form) ?? "");

it.each(FORMS)("stores a text as it is without a key, and reads that later with one: %s", (form) => {
  expect(sealText("a", SECRET, form)).toBe(SECRET);
  expect(sealedPrefix(form)).toBe(null);
  useSecretsKeys([NEWER]);
  expect(openText("a", SECRET)).toBe(SECRET);
  expect(isNow(SECRET, form)).toBe(false);
});

it.each(FORMS)("encrypts under the first key and decrypts with all: %s", (form) => {
  useSecretsKeys([FORMER]);
  const before = sealText("a", SECRET, form);
  expect(before).not.toContain("secret");
  expect(sealText("a", SECRET, form)).not.toBe(before);
  useSecretsKeys([NEWER, FORMER]);
  expect(openText("a", before)).toBe(SECRET);
  const after = sealText("a", SECRET, form);
  expect([before, after].map((stored) => isNow(stored, form))).toEqual([false, true]);
  useSecretsKeys([NEWER]);
  expect(openText("a", after)).toBe(SECRET);
  expect(() => openText("a", before)).toThrow(/not in SALDO_SECRETS_KEY/);
  expect([before, after, SECRET].map(unknownKeyOf)).toEqual([expect.stringMatching(/^[0-9a-f]{8}$/), null, null]);
});

it.each(FORMS)("opens nothing that was changed, or that belongs to another row: %s", (form) => {
  useSecretsKeys([FORMER]);
  const sealed = sealText("a", SECRET, form);
  expect(() => openText("b", sealed)).toThrow(SecretUnreadable);
  const [, , , body = ""] = sealed.split(":");
  const bytes = Buffer.from(body, "base64url");
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    const stored = `${sealedPrefix(form)}${flipped.toString("base64url")}`;
    expect(() => openText("a", stored)).toThrow(SecretUnreadable);
  }
  for (const length of [28, 29, bytes.length - 1]) {
    const cut = `${sealedPrefix(form)}${bytes.subarray(0, length).toString("base64url")}`;
    expect(() => openText("a", cut)).toThrow(SecretUnreadable);
  }
  // A token that a person chose is no sealed text, even with the same beginning.
  expect(openText("a", "sealed:1:mine")).toBe("sealed:1:mine");
});

it("changes the master key of an envelope and leaves the rest of it", () => {
  useSecretsKeys([FORMER]);
  const before = sealText("a", SECRET, "envelope");
  useSecretsKeys([NEWER, FORMER]);
  const after = resealText("a", before, "envelope");
  const bodyOf = (stored: string): Buffer => Buffer.from(stored.split(":")[3] ?? "", "base64url");
  expect(bodyOf(after).subarray(60)).toEqual(bodyOf(before).subarray(60));
  expect(bodyOf(after).subarray(0, 60)).not.toEqual(bodyOf(before).subarray(0, 60));
  useSecretsKeys([NEWER]);
  expect(openText("a", after)).toBe(SECRET);
  expect(() => resealText("a", before, "envelope")).toThrow(SecretUnreadable);
});

it("a data key of one row does not open another row", () => {
  useSecretsKeys([FORMER]);
  const [one, other] = ["a", "b"].map((name) =>
    Buffer.from(sealText(name, SECRET, "envelope").split(":")[3] ?? "", "base64url"),
  );
  const mixed = Buffer.concat([one?.subarray(0, 60) ?? Buffer.of(), other?.subarray(60) ?? Buffer.of()]);
  for (const name of ["a", "b"])
    expect(() => openText(name, `${sealedPrefix("envelope")}${mixed.toString("base64url")}`)).toThrow(SecretUnreadable);
});

it("goes from clear text to an envelope, and back to the form of the version before", () => {
  useSecretsKeys([FORMER]);
  const envelope = resealText("a", SECRET, "envelope");
  const former = resealText("a", envelope, "former");
  expect([isNow(envelope, "envelope"), isNow(former, "former")]).toEqual([true, true]);
  expect([envelope, former, resealText("a", former, "envelope")].map((stored) => openText("a", stored))).toEqual([
    SECRET,
    SECRET,
    SECRET,
  ]);
});
