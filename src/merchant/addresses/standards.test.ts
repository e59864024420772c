import { describe, expect, test } from "vitest";
import { readBitcoinAddress } from "./bitcoin.ts";
import { readEvmAddress } from "./evm.ts";
import { readWitnessProgram } from "./segwit.ts";

// Facts of the standards: EIP-55, BIP-173 and BIP-350.
const EIP55 = [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  "0xde709f2102306220921060314715629080e2fb77",
  "0x27b1fdb04752bbc536007a920d24acb045561c26",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];
const BIP350_VALID: readonly (readonly [string, string, number, string])[] = [
  ["bc", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", 0, "751e76e8199196d454941c45d1b3a323f1433bd6"],
  [
    "tb",
    "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
    0,
    "1863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262",
  ],
  [
    "bc",
    "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
    1,
    "751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6",
  ],
  ["bc", "BC1SW50QGDZ25J", 16, "751e"],
  ["bc", "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", 2, "751e76e8199196d454941c45d1b3a323"],
  [
    "tb",
    "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
    1,
    "000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433",
  ],
  [
    "bc",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    1,
    "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
  ],
];
/** Wrong prefix, bech32 for bech32m and the other way, characters, version, lengths, mixed case, padding, nothing. */
const BIP350_INVALID = `
  tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut
  bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd
  tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf
  BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL
  bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh
  tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47
  bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4
  BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R
  bc1pw5dgrnzv
  bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav
  BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P
  tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq
  bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf
  tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j
  bc1gmk9yu
`
  .trim()
  .split(/\s+/);

describe("the standards' own examples", () => {
  test("of EIP-55 are accepted, and are in normal form", () => {
    for (const address of EIP55) {
      expect(readEvmAddress(address)).toEqual({ normalized: address });
      const digits = address.slice(2);
      expect(readEvmAddress(`0x${digits.toLowerCase()}`)).toEqual({ normalized: address });
      expect(readEvmAddress(`0x${digits.toUpperCase()}`)).toEqual({ normalized: address });
    }
  });

  test("of BIP-173 and BIP-350 are read", () => {
    for (const [prefix, address, version, program] of BIP350_VALID) {
      const read = readWitnessProgram(address, prefix);
      expect([read?.version, Buffer.from(read?.program ?? []).toString("hex")]).toEqual([version, program]);
    }
  });

  test("of invalid addresses are refused", () => {
    for (const address of BIP350_INVALID) {
      expect(readWitnessProgram(address, "bc")).toBeNull();
      expect(readWitnessProgram(address, "tb")).toBeNull();
      expect(readBitcoinAddress(address)).toHaveProperty("problem");
    }
  });
});
