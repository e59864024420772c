// Commands that another operator has to approve before they take effect. A command is stored with everything that carrying it out needs;
// the approval carries it out in its own transaction, under the name of the operator who gave it.

import type { Pool } from "pg";
import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { waitForLocks } from "../../database/transactions.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { type CommandKind, type CommandKinds, commandKinds, type CommandLook, isCommandKind } from "./command-kinds.ts";
import {
  decideApproval,
  insertApproval,
  lockApproval,
  type NewApproval,
  type Queryable,
  readApprovalOfReference,
  readSamePending,
  type StoredApproval,
} from "./approval-store.ts";
import { carryOutAlone } from "./carried-out-alone.ts";
import { isAboveSum, type SecondPersonRule } from "./second-person.ts";

/** How long a command waits. An undecided one is not carried out any more. */
const LIFETIME_MS = 72 * 3_600_000;

/** The commanding operator, and when another one has to approve. Null: never. */
export type CommandingOperator = {
  readonly by: OperatorContext & { readonly database: { readonly pool: Pool } };
  readonly rule: SecondPersonRule | null;
};

/** The outcome of a command: it was carried out, or waits. */
export type Requested<Outcome> =
  | { readonly outcome: Outcome; readonly pendingApprovalId: "" }
  | { readonly outcome: null; readonly pendingApprovalId: string };

/**
 * Carries a command out, or stores it where another operator has to approve it. The same command again is the same stored one.
 * Errors: those of the command; ValidationError where its name was used for another command, or for one that was refused or has expired.
 */
export async function carryOutOrStore<K extends CommandKind>(
  { by, rule }: CommandingOperator,
  kind: K,
  command: CommandKinds[K]["command"],
): Promise<Requested<CommandKinds[K]["outcome"]>> {
  const { pool } = by.database;
  const { look: lookAt, agreement, carryOut } = commandKinds[kind];
  const done = async () => ({ outcome: await carryOut(by, command), pendingApprovalId: "" }) as const;
  if (rule === null) return done();
  const look = await lookAt(command, pool);
  const needed = await agreement({ command, by, pool });
  if (needed === "one operator") return done();
  if (needed === "two above the sum" && look.amount !== null && !isAboveSum(rule, look.amount)) {
    const wanted = toStore(by, kind, command, look);
    // A command that waits, or was refused, is not carried out alone when the sum of the day has room for it later.
    if ((await readStored(pool, wanted)) === undefined) {
      const outcome = await carryOutAlone({ by, rule, amount: look.amount }, (alone) => carryOut(alone, command));
      if (outcome !== null) return { outcome, pendingApprovalId: "" };
    }
  }
  const stored = await store(by, toStore(by, kind, command, look));
  // An approved command is carried out again under its own name, which changes nothing and returns its result.
  if (stored.state === "approved") return done();
  if (stored.state === "pending") return { outcome: null, pendingApprovalId: stored.approvalId };
  const message = `names a command that ${stored.state === "refused" ? "was refused" : "has expired"}; a further one needs a name of its own`;
  throw new ValidationError([{ field: "reference", rule: "approval.state", message }]);
}

function toStore<K extends CommandKind>(
  by: OperatorContext,
  kind: K,
  command: CommandKinds[K]["command"],
  { subject, reason, amount, more = {} }: CommandLook,
): NewApproval {
  const approvalId = uuidv7();
  return {
    approvalId,
    kind,
    reference: commandKinds[kind].referenceOf(command) ?? approvalId,
    subject,
    facts: { currencyCode: amount?.currencyCode ?? "", amount: amount?.amount ?? "", ...more },
    payload: toPayload(command),
    reason,
    requestedBy: by.operator,
  };
}

/** The command as it is stored already: by its name, or the same one that is pending where it has none. */
function readStored(client: Queryable, wanted: NewApproval): Promise<StoredApproval | undefined> {
  const isNamed = wanted.reference !== wanted.approvalId;
  return isNamed ? readApprovalOfReference(client, wanted) : readSamePending(client, wanted);
}

function store(by: OperatorContext, wanted: NewApproval): Promise<StoredApproval> {
  const { approvalId, kind, subject, reason, payload } = wanted;
  return withAuditLog(
    by,
    async (client) => {
      const found =
        (await readStored(client, wanted)) ??
        (await insertApproval(client, wanted, LIFETIME_MS)) ??
        (await readApprovalOfReference(client, wanted));
      invariant(found !== undefined, "a command that cannot be inserted is there");
      if (JSON.stringify(sorted(found.payload)) !== JSON.stringify(sorted(payload))) {
        const message = "was used for another command; a further one needs a reference of its own";
        throw new ValidationError([{ field: "reference", rule: "credit.reference", message }]);
      }
      return found;
    },
    (stored) =>
      stored.approvalId === approvalId
        ? {
            action: "approval request",
            subject: approvalId,
            reason,
            facts: { command: kind, subject },
            inAccount: null,
          }
        : null,
  );
}

/** A decided approval. Not new: it was decided in the same way before, and nothing was done. */
export type DecidedApproval = { readonly approval: StoredApproval; readonly isNew: boolean };

/**
 * Approves a command and carries it out. Errors: NotFound; ValidationError when the same operator gave it, or when it was refused or has
 * expired; those of the command, which then stays pending.
 */
export function grantApproval(
  by: OperatorContext,
  { approvalId, reason }: { approvalId: string; reason: string | null },
): Promise<DecidedApproval> {
  return withAuditLog(
    by,
    async (client) => {
      await waitForLocks(client);
      const found = await lockApproval(client, approvalId);
      if (found.state === "approved") return { approval: found, isNew: false };
      requirePending(found);
      if (found.requestedBy.toLowerCase() === by.operator.toLowerCase()) {
        const message = "must be approved by another operator than the one who gave the command";
        throw new ValidationError([{ field: "approvalId", rule: "approval.second_person", message }]);
      }
      await carryOutStored({ ...by, operator: found.requestedBy, within: client }, found);
      const decided = await decideApproval(client, { approvalId, state: "approved", by: by.operator, reason });
      invariant(decided !== undefined, "a locked approval can be decided");
      return { approval: decided, isNew: true };
    },
    lineOf("approval grant", reason),
  );
}

/** Refuses a command, or withdraws an own one. Errors: NotFound; ValidationError when it was approved or has expired. */
export function refuseApproval(
  by: OperatorContext,
  { approvalId, reason }: { approvalId: string; reason: string },
): Promise<DecidedApproval> {
  return withAuditLog(
    by,
    async (client) => {
      await waitForLocks(client);
      const found = await lockApproval(client, approvalId);
      if (found.state === "refused") return { approval: found, isNew: false };
      requirePending(found);
      const decided = await decideApproval(client, { approvalId, state: "refused", by: by.operator, reason });
      invariant(decided !== undefined, "a locked approval can be decided");
      return { approval: decided, isNew: true };
    },
    lineOf("approval refuse", reason),
  );
}

function requirePending({ state }: StoredApproval): void {
  if (state === "pending") return;
  const message = `names a command that ${state === "expired" ? "has expired" : `was ${state}`}`;
  throw new ValidationError([{ field: "approvalId", rule: "approval.state", message }]);
}

function lineOf(action: string, reason: string | null) {
  return ({ approval: { approvalId, kind, subject, requestedBy }, isNew }: DecidedApproval) =>
    // What an approved command changes has a line of the command itself.
    isNew
      ? { action, subject: approvalId, reason, facts: { command: kind, subject, requestedBy }, inAccount: null }
      : null;
}

async function carryOutStored(by: OperatorContext, { kind, payload }: StoredApproval): Promise<void> {
  invariant(isCommandKind(kind), "a command is stored of a known kind");
  const { carryOut } = commandKinds[kind] as {
    carryOut: (by: OperatorContext, command: unknown) => Promise<unknown>;
  };
  await carryOut(by, fromPayload(payload));
}

/** JSON has no whole numbers of this size: they are stored as texts under names that mark them. */
function toPayload(command: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(command).map(([name, value]) =>
      typeof value === "bigint" ? [`${name}${BIG}`, String(value)] : [name, value as unknown],
    ),
  );
}

const BIG = ":bigint";

function fromPayload(payload: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(payload).map(([name, value]) =>
      name.endsWith(BIG) ? [name.slice(0, -BIG.length), BigInt(value as string)] : [name, value],
    ),
  );
}

function sorted(payload: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(payload)
    .filter(([, value]) => value !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}
