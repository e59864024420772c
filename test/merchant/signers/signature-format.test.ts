import { generateKeyPairSync, sign, verify } from "node:crypto";
import fc from "fast-check";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { derOf, publicKeyOf } from "../../chains/random-signer.ts";
import {
  addressOfPublicKey,
  parseDerSignature,
  parsePlainSignature,
} from "../../../src/merchant/chains/signers/signature-format.ts";

const MOST = 2n ** 256n - 1n;
const plain = (numbers: { r: bigint; s: bigint }): Buffer =>
  Buffer.from([numbers.r, numbers.s].map((each) => each.toString(16).padStart(64, "0")).join(""), "hex");

describe("a signature in DER", () => {
  it("is read right for numbers of every length, with and without a leading zero", () => {
    const short = fc.bigInt({ min: 0n, max: MOST }).chain((most) => fc.bigInt({ min: 0n, max: most }));
    const number = fc.oneof(
      fc.bigInt({ min: 0n, max: MOST }),
      short,
      fc.constantFrom(0n, 127n, 128n, 255n, 256n, MOST),
    );
    fc.assert(
      fc.property(number, number, (r, s) => {
        expect(parseDerSignature(derOf({ r, s }))).toEqual({ r, s });
        expect(parsePlainSignature(plain({ r, s }))).toEqual({ r, s });
      }),
      { numRuns: 2_000 },
    );
  });

  it("by OpenSSL is the same signature when it is read", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
    const lengths = new Set<number>();
    for (let number = 0; number < 400; number += 1) {
      const text = Buffer.from(`${number}`);
      const der = sign("sha256", text, privateKey);
      lengths.add(der.length);
      const isValid = verify(
        "sha256",
        text,
        { key: publicKey, dsaEncoding: "ieee-p1363" },
        plain(parseDerSignature(der)),
      );
      expect(isValid).toBe(true);
    }
    // Short numbers and leading zeros were among them.
    expect(lengths.size).toBeGreaterThanOrEqual(3);
  });

  it.each<[what: string, hex: string]>([
    ["nothing", ""],
    ["another kind of element", "3106020101020101"],
    ["a sequence that is cut", "3006020101020"],
    ["bytes behind it", "300602010102010100"],
    ["bytes behind its numbers", "30080201010201010500"],
    ["one number", "3003020101"],
    ["a number without bytes", "30050200020101"],
    ["a negative number", "3006020181020101"],
    ["a zero too many", "300702020001020101"],
    ["a length in several bytes", "30810602010102010100"],
    ["a number longer than the sequence", "3006020101020901"],
    ["random bytes", "8f3a6c"],
  ])("is refused where it is %s", (_what, hex) => {
    expect(() => parseDerSignature(Buffer.from(hex, "hex"))).toThrow(/signature/);
  });

  it("never makes the reader answer what its bytes are not", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        let written: Uint8Array = Buffer.from(bytes);
        try {
          written = derOf(parseDerSignature(bytes));
        } catch {
          // Refused.
        }
        expect(written).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a signature of two numbers", () => {
  it.each([0, 63, 65, 128])("is refused with %d bytes", (length) => {
    expect(() => parsePlainSignature(new Uint8Array(length))).toThrow("64 bytes");
  });
});

describe("a public key", () => {
  it("leads to the address of its wallet", () => {
    for (let number = 0; number < 50; number += 1) {
      const privateKey = generatePrivateKey();
      expect(addressOfPublicKey(publicKeyOf(privateKey))).toBe(privateKeyToAddress(privateKey));
    }
  });

  it("of another curve is refused", () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const spki = publicKey.export({ format: "der", type: "spki" });
    expect(() => addressOfPublicKey(spki)).toThrow("secp256k1");
    expect(() => addressOfPublicKey(Buffer.from("3056", "hex"))).toThrow();
  });
});
