// What operators do to the wallets that pay transfers out.

import type { Pool, PoolClient } from "pg";
import { recordAction, withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import { forgetJournals } from "../../merchant/payouts/forget-journals.ts";
import { clearStop, setStop, type StopScope } from "../../merchant/payouts/payout-stops.ts";
import { acceptShort } from "../../merchant/payouts/recheck-store.ts";
import { readWallet } from "../../merchant/payouts/wallet-store.ts";
import type { PayoutChain } from "../../merchant/chains/payout-chain.ts";
import type { RenamedTransfer, UncoveredTransfer } from "../../merchant/payouts/lost-transfers.ts";
import { readTransfer } from "../../merchant/transfers/transfer-store.ts";
import { ofMerchant } from "./merchants.ts";
import { findForeignNonces, type ResumedWallet, resumeSigning } from "../../merchant/payouts/resume-wallet.ts";

/** A stop of a wallet: since when, and why. */
export type WalletStop = { readonly stoppedAt: Date; readonly stopReason: string };

/** The stop of a chain's wallet; null: it signs, or has never paid. Errors: ValidationError when no chain has that name. */
export async function findStop(
  pool: Pool,
  { chains, name }: { chains: readonly PayoutChain[]; name: string },
): Promise<WalletStop | null> {
  const wallet = await readWallet(pool, { chain: name, address: chainNamed(chains, name).wallet });
  const { haltedAt = null, haltReason = null } = wallet ?? {};
  return haltedAt === null ? null : { stoppedAt: haltedAt, stopReason: haltReason ?? "" };
}

/**
 * Lets a wallet sign again that stopped because its key was used elsewhere. `stoppedAt` names the stop that the operator
 * has looked at. `adopts`: payments of open transfers that the books lack are recorded. Errors: ValidationError when no chain has that
 * name; those of findForeignNonces and resumeSigning.
 */
export async function resumeWallet(
  by: OperatorContext,
  command: {
    readonly chains: readonly PayoutChain[];
    readonly name: string;
    readonly stoppedAt: Date;
    readonly reason: string;
    readonly adopts?: boolean;
    /** Before it an operator knows all transactions of a wallet that has never paid. */
    readonly firstNonce?: number | null;
  },
): Promise<ResumedWallet> {
  const { name, stoppedAt, reason, adopts = false, firstNonce = null } = command;
  const chain = chainNamed(command.chains, name);
  // The chain is asked before the transaction begins.
  const found = await findForeignNonces(by.database.pool, chain, { firstNonce });
  return withAuditLog(
    by,
    async (client) => {
      const resumed = await resumeSigning(client, found, { stoppedAt, adopts });
      for (const each of resumed.uncovered ?? []) await recordCover(client, { operator: by.operator, reason }, each);
      return resumed;
    },
    ({ foreignNonces, adoptedPayments, isNew, remadeTransfers, renamed }) =>
      isNew
        ? {
            action: "payout resume",
            subject: `${name} ${found.address}`,
            reason,
            facts: {
              foreignNonces,
              adoptedPayments,
              ...(firstNonce === null ? {} : { firstNonce }),
              ...(remadeTransfers === undefined ? {} : { remadeTransfers: remadeTransfers.join(" ") }),
              ...(renamed === undefined ? {} : { renamed: renamed.map(nameText).join(", ") }),
            },
            inAccount: null,
          }
        : null,
  );
}

function nameText({ transferId, externalId }: RenamedTransfer): string {
  return `${transferId} as ${externalId}`;
}

/** Money that we bear has a line of its own in the log of operators. */
function recordCover(
  client: PoolClient,
  by: { readonly operator: string; readonly reason: string },
  { accountId, ...facts }: UncoveredTransfer,
): Promise<void> {
  return recordAction(client, { ...by, action: "payout cover", subject: accountId, facts });
}

/** Stops payouts of all wallets, a chain's, or one wallet's. A stop that is there already stays as it was. */
export function stopPayouts(by: OperatorContext, command: StopScope & { readonly reason: string }): Promise<boolean> {
  return withAuditLog(
    by,
    (client) => setStop(client, { ...command, operator: by.operator }),
    (isNew) =>
      isNew ? { action: "payout stop", subject: subjectOf(command), reason: command.reason, inAccount: null } : null,
  );
}

/** Ends the stop of the same scope. False: there was no such stop. */
export function startPayouts(by: OperatorContext, command: StopScope & { readonly reason: string }): Promise<boolean> {
  return withAuditLog(
    by,
    (client) => clearStop(client, command),
    (isNew) =>
      isNew ? { action: "payout start", subject: subjectOf(command), reason: command.reason, inAccount: null } : null,
  );
}

function subjectOf({ chain, address }: StopScope): string | null {
  return chain === "" ? null : `${chain} ${address}`.trimEnd();
}

/**
 * Accepts a payment whose token has delivered less than was sent. The wallet signs again after its stop is ended. Errors:
 * ValidationError when the transfer has no open payout.
 */
export function acceptShortPayout(
  by: OperatorContext,
  { transferId, reason }: { transferId: string; reason: string },
): Promise<boolean> {
  return withAuditLog(
    by,
    (client) => acceptShort(client, transferId),
    async (isNew, client) => {
      if (!isNew) return null;
      const transfer = await readTransfer(client, transferId);
      invariant(transfer !== undefined, "a payout is of a transfer");
      const { merchantId, externalId } = transfer;
      const change = await ofMerchant(client, merchantId, "transfer.short_accepted", { externalId });
      return {
        action: "payout accept-short",
        subject: transferId,
        reason,
        inAccount: { ...change, subject: transferId },
      };
    },
  );
}

/** Forgets the journals of a node that does not come back. Returns how many. Errors: those of forgetJournals. */
export function forgetNode(
  by: OperatorContext,
  { host, reason }: { readonly host: string; readonly reason: string },
): Promise<number> {
  return withAuditLog(
    by,
    (client) => forgetJournals(client, host),
    (journals) => ({ action: "payout journal forget", subject: host, reason, facts: { journals }, inAccount: null }),
  );
}

function chainNamed(chains: readonly PayoutChain[], name: string): PayoutChain {
  const found = chains.find((chain) => chain.name === name);
  if (found !== undefined) return found;
  const known = chains.map((chain) => chain.name).join(", ") || "none";
  throw new ValidationError([{ field: "chain", rule: "chain.known", message: `must be configured; ${known} is` }]);
}
