import fc from "fast-check";
import { type Hex, keccak256, recoverAddress, toHex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { RandomSigner, signAtRandom } from "../../chains/random-signer.ts";
import { type Signer, SignerFailure, WrongSigner } from "../../../src/merchant/chains/signers/signer.ts";
import { WalletSigner } from "../../../src/merchant/chains/signers/wallet-signer.ts";

const KEY = generatePrivateKey();
const WALLET = privateKeyToAddress(KEY);
const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;
const PACE = { timeoutMs: 5_000, pauseMs: 0 };
const DIGEST = keccak256("0x01");

const open = (signer: Signer, pace = PACE, now?: () => number) =>
  new WalletSigner({ signer, wallet: WALLET, pace, ...(now === undefined ? {} : { now }) });
const answering = (answer: Partial<Signer>): Signer => Object.assign(new RandomSigner(KEY), answer);

describe("a signature for a wallet", () => {
  it("has a low s and leads to the wallet, whatever k and s the signer has chosen", async () => {
    const seen = { low: 0, high: 0 };
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.boolean(), async (bytes, isHigh) => {
        const digest = toHex(bytes);
        const signer = answering({ sign: async (given) => signAtRandom(given, KEY, isHigh) });
        const { r, s, v } = await open(signer).sign(digest);
        seen[isHigh ? "high" : "low"] += 1;
        expect(s <= ORDER / 2n).toBe(true);
        const signature = { r: toHex(r, { size: 32 }), s: toHex(s, { size: 32 }), yParity: v };
        expect(await recoverAddress({ hash: digest, signature })).toBe(WALLET);
      }),
      { numRuns: 60 },
    );
    expect(Math.min(seen.low, seen.high)).toBeGreaterThan(5);
  });

  it("is never that of another key", async () => {
    const signer = new RandomSigner(generatePrivateKey());
    const wallet = open(signer);
    await expect(wallet.sign(DIGEST)).rejects.toThrow(WrongSigner);
    expect(wallet.trouble?.error).toBeInstanceOf(WrongSigner);
  });

  it("is never that of other bytes", async () => {
    const signer = answering({ sign: async () => signAtRandom(keccak256("0x02"), KEY) });
    await expect(open(signer).sign(DIGEST)).rejects.toThrow(WrongSigner);
  });

  it.each<[what: string, numbers: { r: bigint; s: bigint }]>([
    ["zero as r", { r: 0n, s: 1n }],
    ["zero as s", { r: 1n, s: 0n }],
    ["an r beyond the curve", { r: ORDER, s: 1n }],
    ["an s beyond the curve", { r: 1n, s: ORDER }],
    ["an s of 257 bits", { r: 1n, s: 2n ** 256n }],
  ])("is none with %s", async (_what, numbers) => {
    const signer = answering({ sign: () => Promise.resolve(numbers) });
    await expect(open(signer).sign(DIGEST)).rejects.toThrow(SignerFailure);
  });
});

describe("a signer that fails", () => {
  it.each<[how: string, sign: Signer["sign"]]>([
    ["with an error", () => Promise.reject(new Error("throttled"))],
    [
      "at once",
      () => {
        throw new Error("at once");
      },
    ],
    ["with what is no error", () => Promise.reject("text")],
    ["by silence", () => new Promise(() => {})],
  ])("%s is a failure that may pass", async (_how, sign) => {
    const wallet = open(answering({ sign }), { timeoutMs: 50, pauseMs: 0 });
    await expect(wallet.sign(DIGEST)).rejects.toThrow(SignerFailure);
    expect(wallet.trouble?.error).toBeInstanceOf(SignerFailure);
  });

  it("is left alone for a while, and its trouble lasts from the first failure until it signs", async () => {
    let now = 1_000;
    const signer = new RandomSigner(KEY);
    const wallet = open(signer, { timeoutMs: 5_000, pauseMs: 3_000 }, () => now);
    signer.trouble = new Error("away");
    for (let payment = 0; payment < 16; payment += 1) await expect(wallet.sign(DIGEST)).rejects.toThrow("away");
    expect(signer.asked).toBe(1);
    now += 3_000;
    await expect(wallet.sign(DIGEST)).rejects.toThrow("away");
    expect(signer.asked).toBe(2);
    expect(wallet.trouble?.sinceMs).toBe(1_000);
    signer.trouble = null;
    now += 2_999;
    await expect(wallet.sign(DIGEST)).rejects.toThrow("away");
    now += 1;
    await wallet.sign(DIGEST);
    expect(wallet.trouble).toBeNull();
  });
});

describe("the proof that a signer has its wallet's key", () => {
  it("is a signature, which is asked for once in a while", async () => {
    let now = 0;
    const signer = new RandomSigner(KEY);
    const wallet = open(signer, PACE, () => now);
    await wallet.check();
    await wallet.check();
    expect(signer.asked).toBe(2);
    expect(signer.signed).toHaveLength(1);
    now += 300_000;
    await wallet.check();
    expect(signer.signed).toHaveLength(2);
  });

  it("fails with another key, by its address and by its signature", async () => {
    const other = new RandomSigner(generatePrivateKey());
    await expect(open(other).check()).rejects.toThrow(WrongSigner);
    await expect(open(other).check()).rejects.toThrow(WALLET);
    expect(other.signed).toEqual([]);
    const pretends = answering({ sign: (digest: Hex) => other.sign(digest) });
    await expect(open(pretends).check()).rejects.toThrow(WrongSigner);
  });

  it("needs a signature again after a failure, though the signer shows its address", async () => {
    const signer = new RandomSigner(KEY);
    const wallet = open(signer);
    await wallet.check();
    const sign = signer.sign.bind(signer);
    signer.sign = () => Promise.reject(new Error("not allowed"));
    await expect(wallet.sign(DIGEST)).rejects.toThrow("not allowed");
    await expect(wallet.check()).rejects.toThrow("not allowed");
    signer.sign = sign;
    await wallet.check();
    expect(wallet.trouble).toBeNull();
  });

  it.each(["", "0x12", "nobody"])("fails with %j as the address", async (address) => {
    await expect(open(answering({ address: () => Promise.resolve(address) })).check()).rejects.toThrow(WrongSigner);
  });
});
