import { generateKeyPairSync, hash } from "node:crypto";
import { base58, bech32, bech32m, createBase58check } from "@scure/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AddressInvalid, CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { checkAddress, forbiddenAddresses } from "./addresses.ts";
import { knownContracts } from "./known-contracts.ts";
import { isOnCurve } from "./solana.ts";
import { coins } from "../chains/currencies.ts";

const NOTHING: ReadonlySet<string> = new Set();
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/** The network and normal form, or the refusal's message. */
function check(currencyCode: string, address: string, network = "", forbidden = NOTHING): string {
  try {
    const checked = checkAddress({ currencyCode, network, address, forbidden });
    return `${checked.network} ${checked.normalized}`;
  } catch (error) {
    if (error instanceof AddressInvalid) return error.message;
    throw error;
  }
}

const base58check = createBase58check((data) => hash("sha256", data, "buffer"));
const inBase58 = (version: number, bytes: Uint8Array) => base58check.encode(Uint8Array.of(version, ...bytes));
const hash20 = fc.uint8Array({ minLength: 20, maxLength: 20 });

function newSolanaKey(): string {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return base58.encode(new Uint8Array(Buffer.from(x, "base64url")));
}

const EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TRON = inBase58(0x41, new Uint8Array(20).fill(7));
const SEGWIT = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

describe("an address of", () => {
  test("Bitcoin is a key's or script's hash, or a witness program of version 0 or 1, and in small letters afterwards", () => {
    expect(check("BTC", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")).toBe("bitcoin 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa");
    expect(check("BTC", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy")).toBe("bitcoin 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy");
    expect(check("BTC", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4")).toBe(
      "bitcoin bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    );
    expect(check("BTC", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0")).toMatch(/^bitcoin bc1p/);
    // Valid forms without rules for spending: any person could take the coins.
    for (const address of ["BC1SW50QGDZ25J", "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", "bc1pfeessrawgf"]) {
      expect(check("BTC", address)).toContain("no rules yet");
    }
    // Test networks are refused in the sandbox too.
    for (const address of ["mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"]) {
      expect(check("BTC", address)).toContain("another network");
    }
    expect(check("BTC", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7")).toContain("not an address");
  });

  test("Litecoin has prefixes of its own, and shares its old one for scripts with Bitcoin", () => {
    fc.assert(
      fc.property(hash20, (bytes) => {
        for (const [version, first] of [
          [0x30, "L"],
          [0x32, "M"],
          [0x05, "3"],
        ] as const) {
          const address = inBase58(version, bytes);
          expect(address.startsWith(first)).toBe(true);
          expect(check("LTC", address)).toBe(`litecoin ${address}`);
          expect(check("BTC", address).startsWith("bitcoin 3")).toBe(version === 0x05);
        }
        const witness = bech32.encode("ltc", [0, ...bech32.toWords(bytes)]);
        expect(check("LTC", witness)).toBe(`litecoin ${witness}`);
        expect(check("BTC", witness)).toBe("This is an address of litecoin, not of bitcoin.");
      }),
    );
    expect(check("LTC", "ltcmweb1qqwp")).toContain("not an address of litecoin");
  });

  test("Tron begins with T; its other form is refused", () => {
    fc.assert(
      fc.property(hash20, (bytes) => {
        fc.pre(bytes.some((byte) => byte !== 0));
        const address = inBase58(0x41, bytes);
        expect(address.startsWith("T")).toBe(true);
        expect(check("TRX", address)).toBe(`tron ${address}`);
        expect(check("TRX", `41${Buffer.from(bytes).toString("hex")}`)).toContain("begins with T");
      }),
    );
  });

  test("Solana is a point of the curve: every key is one, and half of all other values are not", () => {
    const wallets = Array.from({ length: 50 }, newSolanaKey);
    expect(wallets.filter((address) => check("SOL", address) !== `solana ${address}`)).toEqual([]);
    const bytes = Array.from({ length: 1_000 }, (_, number) => hash("sha256", String(number), "buffer"));
    const onCurve = bytes.filter(isOnCurve).length;
    expect(onCurve).toBeGreaterThan(350);
    expect(onCurve).toBeLessThan(650);
    // Not reduced, and the point whose x is zero with the sign of another.
    expect(isOnCurve(new Uint8Array(32).fill(0xff))).toBe(false);
    expect(isOnCurve(Uint8Array.of(1, ...Array<number>(31).fill(0)))).toBe(true);
    expect(isOnCurve(Uint8Array.of(1, ...Array<number>(30).fill(0), 0x80))).toBe(false);
  });

  test("every network is accepted", () => {
    for (const [code, address] of [
      ["ETH", `0x${"0".repeat(40)}`],
      ["BNB", `0x${"0".repeat(39)}9`],
      ["USDT", "0x000000000000000000000000000000000000dEaD"],
      ["TRX", inBase58(0x41, new Uint8Array(20))],
      ["SOL", "1".repeat(32)],
    ] as const) {
      expect(check(code, address)).toContain("it has no owner, so coins sent there are lost");
    }
  });
});

describe("the network", () => {
  test("is derived from the currency and the address where none is named", () => {
    const solana = newSolanaKey();
    expect(check("USDT", EVM)).toBe(`ethereum ${EVM}`);
    expect(check("USDT", TRON)).toBe(`tron ${TRON}`);
    expect(check("USDC", solana)).toBe(`solana ${solana}`);
    expect(check("BNB", EVM)).toBe(`bsc ${EVM}`);
    expect(check("USDT", EVM, "bsc")).toBe(`bsc ${EVM}`);
  });

  test("that is named is required", () => {
    expect(check("USDT", TRON, "ethereum")).toBe("This is an address of tron, not of ethereum.");
    expect(check("USDT", EVM, "tron")).toBe("This is an address of ethereum or bsc, not of tron.");
    expect(check("TRX", EVM)).toBe("This is an address of ethereum or bsc, not of tron.");
    expect(check("ETH", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")).toBe("This is an address of bitcoin, not of ethereum.");
    expect(() => check("TRX", TRON, "ethereum")).toThrow(CurrencyUnsupported);
    for (const code of ["", "trx", "DOGE", "__proto__"]) expect(() => check(code, TRON)).toThrow(CurrencyUnsupported);
  });
});

describe("a text that is not an address", () => {
  test("is refused with a helpful message that does not repeat it", () => {
    for (const [address, message] of [
      ["", "empty"],
      ["x".repeat(1_000_000), "longer than 128 characters"],
      [` ${EVM}`, "space"],
      [`${EVM}\n`, "space"],
      [EVM.replace("A", "\u0410"), "only look like"],
      [`${EVM}\u200b`, "only look like"],
      [`${EVM.slice(0, -1)}Ｄ`, "only look like"],
      [EVM.replace("0x", "0X"), "0x and 40"],
      [EVM.slice(0, -1), "0x and 40"],
      [`${EVM}0`, "0x and 40"],
      [EVM.replace("a", "A"), "capitals do not match"],
      ["__proto__", "not an address of ethereum"],
      ["vitalik.eth", "not an address of ethereum"],
    ] as const) {
      const refusal = check("ETH", address);
      expect(refusal).toContain(message);
      expect(address !== "" && refusal.includes(address)).toBe(false);
    }
    expect(check("USDT", "hello")).toBe("This is not an address of ethereum or tron or solana or bsc.");
    expect(check("USDT", "0x12")).toContain("not an address of ethereum: it must be 0x");
    expect(check("BTC", `${SEGWIT.slice(0, -1)}T`)).toContain("mixed");
  });

  test("causes only a refusal", () => {
    fc.assert(
      fc.property(fc.constantFrom(...coins), fc.string({ unit: "binary", maxLength: 200 }), (coin, text) => {
        expect(check(coin.currencyCode, text, coin.network)).toMatch(/address/);
      }),
    );
  });
});

describe("one changed character", () => {
  /** Every text that differs from the address in one character after the first `fixed` ones. */
  function* changed(address: string, alphabet: string, fixed: number): Generator<string> {
    for (let at = fixed; at < address.length; at += 1) {
      for (const other of alphabet) {
        if (other !== address[at]) yield address.slice(0, at) + other + address.slice(at + 1);
      }
    }
  }

  test.each([
    ["BTC", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", BASE58, 0],
    ["BTC", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", BASE58, 0],
    ["LTC", inBase58(0x30, new Uint8Array(20).fill(3)), BASE58, 0],
    ["TRX", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", BASE58, 0],
    ["BTC", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", BECH32, 3],
    ["BTC", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", BECH32, 3],
    ["LTC", bech32m.encode("ltc", [1, ...bech32m.toWords(new Uint8Array(32).fill(9))]), BECH32, 4],
  ] as const)("of a %s address (%s) is always noticed", (code, address, alphabet, fixed) => {
    const wrong = [...changed(address, alphabet, fixed)];
    expect(wrong).toHaveLength((address.length - fixed) * (alphabet.length - 1));
    expect(wrong.filter((text) => !check(code, text).startsWith("This is not an address of "))).toEqual([]);
  });

  test("of the case of a checksummed EVM address is always detected", () => {
    const flipped = Array.from(EVM, (letter, at) => {
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      return at < 2 || other === letter ? null : EVM.slice(0, at) + other + EVM.slice(at + 1);
    });
    const wrong = flipped.filter((address) => address !== null);
    expect(wrong.length).toBeGreaterThan(10);
    expect(wrong.filter((address) => !check("ETH", address).includes("capitals do not match"))).toEqual([]);
  });
});

describe("a forbidden address", () => {
  test("is refused in every form of writing", () => {
    const forbidden = forbiddenAddresses([
      { network: "ethereum", address: EVM.toLowerCase() },
      { network: "bitcoin", address: SEGWIT },
    ]);
    for (const [code, address] of [
      ["ETH", EVM],
      ["USDT", EVM.toLowerCase()],
      ["BNB", `0x${EVM.slice(2).toUpperCase()}`],
      ["BTC", SEGWIT.toUpperCase()],
    ] as const) {
      expect(check(code, address, "", forbidden)).toContain("may not be paid");
      expect(check(code, address)).not.toContain("may not be paid");
    }
    expect(() => forbiddenAddresses([{ network: "tron", address: EVM }])).toThrow(AddressInvalid);
  });

  test("is also every known token's contract, each written in its normal form", () => {
    for (const { network, address } of knownContracts) {
      expect([...forbiddenAddresses([{ network, address }])]).toEqual([address]);
      expect(check("USDT", address, network)).toContain("may not be paid");
    }
  });
});
