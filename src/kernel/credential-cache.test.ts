import { describe, expect, test } from "vitest";
import { newSecretToken } from "./secret-token.ts";
import { createSecretLookup, SECRET_MAX_AGE_MS, UNKNOWN_SECRET_MAX_AGE_MS } from "./credential-cache.ts";

type Owner = { readonly keyId: string };

const key: Owner = { keyId: "k" };

/** A lookup whose clock and reads are in the test's hand. */
function lookupUnderTest() {
  const clock = { nowMs: 1_000_000, now: () => clock.nowMs };
  const reads: PromiseWithResolvers<Owner | null>[] = [];
  const lookUp = createSecretLookup({
    prefix: "gw_",
    clock,
    read: () => {
      const read = Promise.withResolvers<Owner | null>();
      reads.push(read);
      return read.promise;
    },
  });
  return { clock, reads, lookUp };
}

describe("the secret lookup", () => {
  const secret = newSecretToken("gw_");

  test("makes no lookup for a text that cannot be a gateway key", async () => {
    const { lookUp, reads } = lookupUnderTest();
    const typo = secret.slice(0, -1) + (secret.endsWith("0") ? "1" : "0");
    for (const text of ["", "gw_", typo, `${secret} `, newSecretToken("st_"), newSecretToken("sk_")]) {
      expect(await lookUp(text)).toBeNull();
    }
    expect(reads).toHaveLength(0);
  });

  test("reads once for many that ask at the same time", async () => {
    const { lookUp, reads } = lookupUnderTest();
    const answers = Promise.all([lookUp(secret), lookUp(secret), lookUp(secret)]);
    expect(reads).toHaveLength(1);
    reads[0]?.resolve(key);
    expect(await answers).toEqual([key, key, key]);
  });

  test("counts the age of what it remembers from the start of the read, not from its end", async () => {
    const { clock, lookUp, reads } = lookupUnderTest();
    const first = lookUp(secret);
    clock.nowMs += SECRET_MAX_AGE_MS - 1;
    reads[0]?.resolve(key);
    await first;
    expect(await lookUp(secret)).toEqual(key);
    expect(reads).toHaveLength(1);
    clock.nowMs += 1;
    void lookUp(secret);
    expect(reads).toHaveLength(2);
  });

  test("sees a revocation at the next read", async () => {
    const { clock, lookUp, reads } = lookupUnderTest();
    const first = lookUp(secret);
    reads[0]?.resolve(key);
    await first;
    clock.nowMs += SECRET_MAX_AGE_MS;
    const second = lookUp(secret);
    reads[1]?.resolve(null);
    expect(await second).toBeNull();
    expect(await lookUp(secret)).toBeNull();
    expect(reads).toHaveLength(2);
  });

  test("remembers for a moment that a key does not exist", async () => {
    const { clock, lookUp, reads } = lookupUnderTest();
    const first = lookUp(secret);
    reads[0]?.resolve(null);
    await first;
    clock.nowMs += UNKNOWN_SECRET_MAX_AGE_MS - 1;
    expect(await lookUp(secret)).toBeNull();
    expect(reads).toHaveLength(1);
    clock.nowMs += 1;
    void lookUp(secret);
    expect(reads).toHaveLength(2);
  });

  test("does not wait for a read that has become too old, nor believes it afterwards", async () => {
    const { clock, lookUp, reads } = lookupUnderTest();
    const slow = lookUp(secret);
    clock.nowMs += SECRET_MAX_AGE_MS;
    const young = lookUp(secret);
    expect(reads).toHaveLength(2);
    reads[1]?.resolve(null);
    expect(await young).toBeNull();
    reads[0]?.resolve(key);
    await slow;
    expect(await lookUp(secret)).toBeNull();
  });

  test("remembers no failure", async () => {
    const { lookUp, reads } = lookupUnderTest();
    const first = lookUp(secret);
    reads[0]?.reject(new Error("the database is away"));
    await expect(first).rejects.toThrow("away");
    const second = lookUp(secret);
    reads[1]?.resolve(key);
    expect(await second).toEqual(key);
  });
});
