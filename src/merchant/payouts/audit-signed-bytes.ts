// The audit of what was signed: the bytes of each attempt pay the recipient and the amount of their transfer, from their wallet, with the
// nonce and the hash that the books have. The amounts of the books alone would not show a payment to another address.

import { setImmediate } from "node:timers/promises";
import type { Violation } from "../../ledger/audit/findings.ts";
import { nativeCurrencies } from "../chains/evm/evm-chain.ts";
import { readSignedTransaction, signerOf } from "../chains/evm/read-signed.ts";
import { readSandboxBytes } from "../chains/sandbox/sandbox-chain.ts";
import type { PageCheck } from "../transfers/audit-pages.ts";

const CHECK = "what was signed pays its transfer";
/** Requests are served between so many attempts. */
const ATTEMPTS_AT_ONCE = 20;

// $1 the id behind which the page begins, $2 its last one.
const attemptsOf = (which: string): string => `
SELECT p.id AS payout, a.number, a.kind, a.raw, a.hash, p.nonce, w.chain, w.address AS wallet,
       t.address AS recipient, t.received AS units, t.currency_code AS currency
FROM (${which}) page
JOIN transfer t ON t.id = page.id
JOIN payout p ON p.transfer_id = t.id
JOIN payout_attempt a ON a.payout_id = p.id
JOIN wallet w ON w.id = p.wallet_id`;

/** An attempt beside what it should pay. */
export type SignedAttempt = {
  readonly payout: string;
  readonly number: number;
  readonly kind: "payment" | "filler";
  readonly raw: string;
  readonly hash: string;
  readonly nonce: number;
  readonly chain: string;
  readonly wallet: string;
  readonly recipient: string;
  /** In smallest units. */
  readonly units: string;
  readonly currency: string;
  /** The contract of that currency; null: it is the chain's own. Absent: it is not compared. */
  readonly contract?: string | null;
};

/** The check of a page of transfers. `full`: also by whose key they were signed, which takes a millisecond each. */
export function wrongBytes(full: boolean) {
  return (which: string): PageCheck => {
    const statement = attemptsOf(which);
    return async (look, page) => {
      const wrong: Violation[] = [];
      for (const [index, attempt] of (await look<SignedAttempt>(statement, page)).entries()) {
        if (index % ATTEMPTS_AT_ONCE === 0) await setImmediate();
        const detail = differenceOf(attempt) ?? (full ? await foreignSignature(attempt) : null);
        if (detail !== null)
          wrong.push({ check: CHECK, subject: attempt.payout, detail: `attempt ${attempt.number}: ${detail}` });
      }
      return wrong;
    };
  };
}

/** The first difference between the bytes and the books. Null: there is none. */
export function differenceOf({
  kind,
  raw,
  hash,
  nonce,
  chain,
  wallet,
  recipient,
  units,
  currency,
  contract,
}: SignedAttempt): string | null {
  const contents = chain === "sandbox" ? readSandboxBytes(raw) : readSignedTransaction(raw);
  if (contents === null) return "its bytes are no payment";
  if (contents.hash !== hash) return `its bytes have the hash ${contents.hash}`;
  if (contents.nonce !== nonce) return `its bytes have nonce ${contents.nonce}, the books ${nonce}`;
  const due = kind === "payment" ? { to: recipient, units: BigInt(units) } : { to: wallet, units: 0n };
  if (!isSameAddress(contents.to, due.to)) return `its bytes pay ${contents.to}, the books ${due.to}`;
  if (contents.units !== due.units) return `its bytes pay ${contents.units}, the books ${due.units}`;
  const isToken =
    kind === "payment" && chain !== "sandbox" && !Object.values(nativeCurrencies).some((code) => code === currency);
  if ((contents.contract !== null) !== isToken) return `its bytes pay another currency than ${currency}`;
  if (contents.contract !== null && contract !== undefined && !isSameAddress(contents.contract, contract ?? ""))
    return `its bytes pay by the contract ${contents.contract}, and that of ${currency} is ${contract ?? "not set"}`;
  return null;
}

/** Whose key signed the bytes, where that is not the wallet's. Null: the wallet's. */
export async function foreignSignature({ chain, raw, wallet }: SignedAttempt): Promise<string | null> {
  if (chain === "sandbox") return null; // it signs nothing
  const signer = await signerOf(raw);
  return signer !== null && isSameAddress(signer, wallet) ? null : `its bytes were signed by ${signer ?? "no key"}`;
}

/** The letters of an address of Ethereum are a checksum; those of the sandbox are the address itself. */
function isSameAddress(one: string, other: string): boolean {
  return one === other || (one.startsWith("0x") && one.toLowerCase() === other.toLowerCase());
}
