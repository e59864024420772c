// The audit of payouts against their chains: what the books have as paid is in a block and delivered its payment, what was given back was not,
// and the network took the fee that was posted. Only a full run asks nodes, for the last payouts of each wallet.

import type { Violation } from "../../ledger/audit/findings.ts";
import type { AuditCheck, AuditPlugin } from "../../ledger/audit/plugin.ts";
import { findCoin } from "../chains/currencies.ts";
import type { ChainHead, PayoutChain, SeenTransaction } from "../chains/payout-chain.ts";

const CHECK = "the chain has what the books have of a payout";
const PAYOUTS_PER_PAGE = 50;
/** How many of a wallet's last payouts are compared: a node is asked for each. */
const MOST_PAYOUTS = 10_000;
/** How deep a transaction lies that its node may not keep any more. */
const KEPT_BLOCKS = 100_000;

const WALLETS = `
SELECT chain, address FROM wallet w
WHERE chain <> 'sandbox' AND EXISTS (SELECT FROM payout p WHERE p.wallet_id = w.id AND p.final_hash IS NOT NULL)
ORDER BY chain, address`;
// $1 chain, $2 address, $3 the nonce that the page is below. A payout that vanished from its chain and came back has the fee of its first end.
const ENDED = `
SELECT p.id, p.nonce, p.state, p.final_hash AS hash, p.short_accepted_at IS NOT NULL AS "isShortAccepted", p.reopened_at IS NOT NULL AS "wasReopened",
       a.kind, a.block_number::int AS block, t.received::text AS units, t.currency_code AS currency, t.network, t.address AS "to",
       (SELECT coalesce(sum(f.amount), 0)::text FROM posting f WHERE f.reference = 'network_fee:' || p.final_hash) AS fee
FROM wallet w
JOIN payout p ON p.wallet_id = w.id
JOIN payout_attempt a ON a.payout_id = p.id AND a.hash = p.final_hash
JOIN transfer t ON t.id = p.transfer_id
WHERE w.chain = $1 AND w.address = $2 AND p.nonce < $3::int AND p.state IN ('confirmed', 'reverted', 'filled')
ORDER BY p.nonce DESC LIMIT ${PAYOUTS_PER_PAGE}`;
const ABOVE_ALL_NONCES = 2_147_483_647;

type EndedPayout = {
  readonly id: string;
  readonly nonce: number;
  readonly state: "confirmed" | "reverted" | "filled";
  readonly hash: string;
  readonly isShortAccepted: boolean;
  readonly wasReopened: boolean;
  readonly kind: "payment" | "filler";
  readonly block: number | null;
  readonly units: string;
  readonly currency: string;
  readonly network: string;
  readonly to: string;
  readonly fee: string;
};

/** `chains`: those of production that this process can ask. */
export function chainAudit(chains: readonly PayoutChain[]): AuditPlugin {
  return {
    async pages(run) {
      if (!run.full) return;
      for (const { chain: name, address } of await run.look<{ chain: string; address: string }>(WALLETS)) {
        const chain = chains.find((each) => each.name === name && each.wallet.toLowerCase() === address.toLowerCase());
        if (chain === undefined) run.notCompared(`payouts of ${name} ${address}: no node is configured for it`);
        else await compareWallet(run, chain, address);
      }
    },
  };
}

async function compareWallet(
  { look, findings, notCompared }: Parameters<AuditCheck>[0],
  chain: PayoutChain,
  address: string,
): Promise<void> {
  const doubted: number[] = [];
  let compared = 0;
  let below = ABOVE_ALL_NONCES;
  // What a node answers is not trusted to be free of its address, which may hold a provider's key.
  const unreachable = (): void =>
    notCompared(`payouts of ${chain.name} ${address} up to nonce ${below - 1}: its node did not answer`);
  const head = await chain.head().catch(() => null);
  if (head === null) return unreachable();
  for (; compared < MOST_PAYOUTS;) {
    const page = await look<EndedPayout>(ENDED, [chain.name, address, below]);
    for (const payout of page) {
      const seen = await find(chain, payout, head);
      if (seen === null) return unreachable();
      below = payout.nonce;
      compared += 1;
      const detail = differenceOf(payout, seen);
      if (detail === null) continue;
      if (isDoubtful(payout, seen, head)) doubted.push(payout.nonce);
      else findings.add([{ check: CHECK, subject: payout.id, detail } satisfies Violation]);
    }
    if (page.length < PAYOUTS_PER_PAGE) break;
  }
  const where = `payouts of ${chain.name} ${address}`;
  if (doubted.length > 0)
    notCompared(`${doubted.length} ${where}, the last with nonce ${doubted[0]}: too old for its node`);
  if (compared >= MOST_PAYOUTS)
    notCompared(`${where} below nonce ${below}: only the last ${MOST_PAYOUTS} are compared`);
}

/** Null: the node did not answer. */
async function find(chain: PayoutChain, payout: EndedPayout, head: ChainHead): Promise<SeenTransaction | null> {
  const { kind, hash, currency, network, to, units } = payout;
  const payment = kind === "payment" ? { coin: findCoin(currency, network), to, units: BigInt(units) } : null;
  // No block counts as final here: to judge one costs up to 64 calls a payout, whose blocks are kept as long as the head.
  return chain.find({ hash, payment }, { ...head, final: -1 }).catch(() => null);
}

/** The first difference between the books and the chain. Null: there is none. */
function differenceOf(
  { state, hash, fee, isShortAccepted, wasReopened }: EndedPayout,
  seen: SeenTransaction,
): string | null {
  if (seen.status !== "mined") return `${state} by ${hash}, which is in no block`;
  const { succeeded, isShort = false, feePaid } = seen;
  if (state === "confirmed" && !succeeded && !(isShort && isShortAccepted)) return `${hash} did not pay it`;
  if (state === "reverted" && succeeded) return `given back, and ${hash} paid it`;
  if (BigInt(fee) !== feePaid && !wasReopened) return `network fee ${fee}, ${hash} took ${feePaid}`;
  return null;
}

/** Whether its node may have forgotten the transaction. */
function isDoubtful({ block }: EndedPayout, seen: SeenTransaction, head: ChainHead): boolean {
  return seen.status === "unknown" && block !== null && head.latest - block > KEPT_BLOCKS;
}
