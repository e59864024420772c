// Guards of what signs payouts: whose signature is used, and what a signer's trouble may do to a transfer.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const signers = (file: string, find: string, replace: string): Edit => ({
  file: `src/merchant/chains/signers/${file}`,
  find,
  replace,
});
const of = (file: string, name: string) => ({ file: `test/merchant/signers/${file}.test.ts`, test: name });
const contract = (name: string) => ({ file: "test/contracts/signer.test.ts", test: name });
const paid = (name: string) => ({ file: "test/merchant/payouts/signers.test.ts", test: name });

export const SIGNERS: readonly PlantedBug[] = [
  {
    name: "a signature with a high s is accepted",
    edits: [signers("wallet-signer.ts", "s > HIGHEST_S ? ORDER - s : s", "s > ORDER ? ORDER - s : s")],
    noticedBy: of("wallet-signer", "has a low s and leads to the wallet"),
  },
  {
    name: "the sender of a signature is not compared with the wallet",
    edits: [signers("wallet-signer.ts", "sender !== null && isAddressEqual(sender, this.#wallet)", "sender !== null")],
    noticedBy: of("wallet-signer", "is never that of another key"),
  },
  {
    name: "a signer's address is not compared with the wallet",
    edits: [
      signers(
        "wallet-signer.ts",
        "if (!isAddress(address, { strict: false }) || !isAddressEqual(address, this.#wallet))",
        'if (address === "unknown")',
      ),
    ],
    noticedBy: of("wallet-signer", "fails with another key, by its address and by its signature"),
  },
  {
    name: "a signer that is away ends a transfer",
    edits: [
      {
        file: "src/merchant/chains/evm/sign-transaction.ts",
        find: "const { r, s, v } = await signer.sign(keccak256(unsigned));",
        replace:
          'const { r, s, v } = await signer.sign(keccak256(unsigned)).catch((cause: unknown) => {\n    throw new UnsignablePayment("the payment cannot be signed", { cause });\n  });',
      },
    ],
    noticedBy: paid("keep their nonce and fail nothing when"),
  },
  {
    name: "nonces are taken while the signer is away",
    edits: [
      {
        file: "src/merchant/payouts/payout-engine.ts",
        find: "if (!(await this.#hasSigner())) return 0;",
        replace: "await this.#hasSigner();",
      },
    ],
    noticedBy: paid("wait with a reason and without a nonce while the signer is away"),
  },
  {
    name: "a lost transaction waits for the signer that should outbid it",
    edits: [
      {
        file: "src/merchant/payouts/advance-payout.ts",
        find: "if (isOfSigner(error) && step.otherwise !== null)",
        replace: "if (error === null && step.otherwise !== null)",
      },
    ],
    noticedBy: paid("that the network has lost are handed over again"),
  },
  {
    name: "what is signed goes out though another signature was stored first",
    edits: [
      {
        file: "src/merchant/payouts/advance-payout.ts",
        find: "if (!(await storeAttempt(pool, attempt))) return true;",
        replace: "await storeAttempt(pool, attempt);",
      },
    ],
    noticedBy: paid("that two engines sign at once go out as what was stored first"),
  },
  {
    name: "a signer that is silent keeps its wallet waiting",
    edits: [signers("wallet-signer.ts", "await Promise.race([ask(signal), late.promise])", "await ask(signal)")],
    noticedBy: of("wallet-signer", "by silence"),
  },
  {
    name: "a signature's number keeps its leading zero",
    edits: [
      signers(
        "signature-format.ts",
        "if (first === 0 && bytes.length > 1 && second < 0x80) throw",
        "if (first === 0 && bytes.length > 33) throw",
      ),
    ],
    noticedBy: of("signature-format", "a zero too many"),
  },
  {
    name: "a token is asked again with a PIN that it refused",
    edits: [signers("token-access.ts", "if (this.#refusal !== null) throw", 'if (this.#refusal === "") throw')],
    noticedBy: contract("that refuses the PIN is not asked again"),
  },
  {
    name: "each start tries the PIN that the token has refused",
    edits: [signers("token-access.ts", "this.#refusal ??= await this.#refusedBefore();", "")],
    noticedBy: contract("that has refused a PIN is not asked with it by a later start"),
  },
  {
    name: "each chain tries the PIN that a token has refused to another",
    edits: [signers("token-access.ts", "shared.get(name) ?? new TokenAccess(refused)", "new TokenAccess(refused)")],
    noticedBy: { file: "test/app/signers.test.ts", test: "tries a wrong PIN once, however many chains" },
  },
  {
    name: "the chains of a token try its PIN at the same time",
    edits: [signers("token-access.ts", "this.#latest.then(() => this.#ask(run, signal))", "this.#ask(run, signal)")],
    noticedBy: { file: "test/app/signers.test.ts", test: "tries a wrong PIN once, however many chains" },
  },
  {
    name: "the answer of a key service has no bound",
    edits: [signers("bounded-fetch.ts", "if (size > MOST_BYTES) throw", "if (size < 0) throw")],
    noticedBy: contract("that answers without end is left after its first bytes"),
  },
];
