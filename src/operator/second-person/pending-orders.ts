// Orders that another operator has to approve before they take effect. An order is stored with everything that carrying it out needs;
// the approval carries it out in its own transaction, under the name of the operator who ordered it.

import type { Pool } from "pg";
import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { waitForLocks } from "../../database/transactions.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { type OrderKind, type OrderKinds, orderKinds, type OrderLook } from "./order-kinds.ts";
import {
  decideOrder,
  insertOrder,
  lockOrder,
  type NewOrder,
  type Queryable,
  readOrderOfReference,
  readSamePending,
  type StoredOrder,
} from "./order-store.ts";
import { carryOutAlone } from "./ordered-alone.ts";
import { isAboveSum, type SecondPersonRule } from "./second-person.ts";

/** How long an order waits. An undecided one is not carried out any more. */
const LIFETIME_MS = 72 * 3_600_000;

/** The ordering operator, and when another one has to approve. Null: never. */
export type OrderingPerson = {
  readonly by: OperatorContext & { readonly database: { readonly pool: Pool } };
  readonly rule: SecondPersonRule | null;
};

/** The outcome of an order: it was carried out, or waits. */
export type Ordered<Outcome> =
  | { readonly outcome: Outcome; readonly pendingOrderId: "" }
  | { readonly outcome: null; readonly pendingOrderId: string };

/**
 * Carries an order out, or stores it where another operator has to approve it. The same order again is the same stored one.
 * Errors: those of the order; ValidationError where its name was used for another order, or for one that was refused or has expired.
 */
export async function carryOutOrStore<K extends OrderKind>(
  { by, rule }: OrderingPerson,
  kind: K,
  ordered: OrderKinds[K]["order"],
): Promise<Ordered<OrderKinds[K]["outcome"]>> {
  const { pool } = by.database;
  const { look: lookAt, agreement, carryOut } = orderKinds[kind];
  const done = async () => ({ outcome: await carryOut(by, ordered), pendingOrderId: "" }) as const;
  if (rule === null) return done();
  const look = await lookAt(ordered, pool);
  const needed = await agreement({ order: ordered, by, pool });
  if (needed === "one operator") return done();
  if (needed === "two above the sum" && look.amount !== null && !isAboveSum(rule, look.amount)) {
    const wanted = toStore(by, kind, ordered, look);
    // An order that waits, or was refused, is not carried out alone when the sum of the day has room for it later.
    if ((await readStored(pool, wanted)) === undefined) {
      const outcome = await carryOutAlone({ by, rule, amount: look.amount }, (alone) => carryOut(alone, ordered));
      if (outcome !== null) return { outcome, pendingOrderId: "" };
    }
  }
  const stored = await store(by, toStore(by, kind, ordered, look));
  // An approved order is carried out again under its own name, which changes nothing and returns its result.
  if (stored.state === "approved") return done();
  if (stored.state === "pending") return { outcome: null, pendingOrderId: stored.orderId };
  const message = `names an order that ${stored.state === "refused" ? "was refused" : "has expired"}; a further one needs a name of its own`;
  throw new ValidationError([{ field: "reference", rule: "order.state", message }]);
}

function toStore<K extends OrderKind>(
  by: OperatorContext,
  kind: K,
  ordered: OrderKinds[K]["order"],
  { subject, reason, amount, more = {} }: OrderLook,
): NewOrder {
  const orderId = uuidv7();
  return {
    orderId,
    kind,
    reference: orderKinds[kind].referenceOf(ordered) ?? orderId,
    subject,
    facts: { currencyCode: amount?.currencyCode ?? "", amount: amount?.amount ?? "", ...more },
    payload: toPayload(ordered),
    reason,
    orderedBy: by.operator,
  };
}

/** The order as it is stored already: by its name, or the same one that is pending where it has none. */
function readStored(client: Queryable, wanted: NewOrder): Promise<StoredOrder | undefined> {
  const isNamed = wanted.reference !== wanted.orderId;
  return isNamed ? readOrderOfReference(client, wanted) : readSamePending(client, wanted);
}

function store(by: OperatorContext, wanted: NewOrder): Promise<StoredOrder> {
  const { orderId, kind, subject, reason, payload } = wanted;
  return withAuditLog(
    by,
    async (client) => {
      const found =
        (await readStored(client, wanted)) ??
        (await insertOrder(client, wanted, LIFETIME_MS)) ??
        (await readOrderOfReference(client, wanted));
      invariant(found !== undefined, "an order that cannot be inserted is there");
      if (JSON.stringify(sorted(found.payload)) !== JSON.stringify(sorted(payload))) {
        const message = "was used for another order; a further one needs a reference of its own";
        throw new ValidationError([{ field: "reference", rule: "credit.reference", message }]);
      }
      return found;
    },
    (stored) =>
      stored.orderId === orderId
        ? { action: "order create", subject: orderId, reason, facts: { order: kind, subject } }
        : null,
  );
}

/** A decided order. Not new: it was decided in the same way before, and nothing was done. */
export type DecidedOrder = { readonly order: StoredOrder; readonly isNew: boolean };

/**
 * Approves an order and carries it out. Errors: NotFound; ValidationError when the same person ordered it, or when it was refused or has
 * expired; those of the order, which then stays pending.
 */
export function approveOrder(
  by: OperatorContext,
  { orderId, reason }: { orderId: string; reason: string | null },
): Promise<DecidedOrder> {
  return withAuditLog(
    by,
    async (client) => {
      await waitForLocks(client);
      const found = await lockOrder(client, orderId);
      if (found.state === "approved") return { order: found, isNew: false };
      requirePending(found);
      if (found.orderedBy.toLowerCase() === by.operator.toLowerCase()) {
        const message = "must be approved by another operator than the one who ordered it";
        throw new ValidationError([{ field: "orderId", rule: "order.second_person", message }]);
      }
      await carryOutStored({ ...by, operator: found.orderedBy, within: client }, found);
      const decided = await decideOrder(client, { orderId, state: "approved", by: by.operator, reason });
      invariant(decided !== undefined, "a locked order can be decided");
      return { order: decided, isNew: true };
    },
    lineOf("order approve", reason),
  );
}

/** Refuses an order, or withdraws an own one. Errors: NotFound; ValidationError when it was approved or has expired. */
export function refuseOrder(
  by: OperatorContext,
  { orderId, reason }: { orderId: string; reason: string },
): Promise<DecidedOrder> {
  return withAuditLog(
    by,
    async (client) => {
      await waitForLocks(client);
      const found = await lockOrder(client, orderId);
      if (found.state === "refused") return { order: found, isNew: false };
      requirePending(found);
      const decided = await decideOrder(client, { orderId, state: "refused", by: by.operator, reason });
      invariant(decided !== undefined, "a locked order can be decided");
      return { order: decided, isNew: true };
    },
    lineOf("order refuse", reason),
  );
}

function requirePending({ state }: StoredOrder): void {
  if (state === "pending") return;
  const message = `names an order that ${state === "expired" ? "has expired" : `was ${state}`}`;
  throw new ValidationError([{ field: "orderId", rule: "order.state", message }]);
}

function lineOf(action: string, reason: string | null) {
  return ({ order: { orderId, kind, subject, orderedBy }, isNew }: DecidedOrder) =>
    isNew ? { action, subject: orderId, reason, facts: { order: kind, subject, orderedBy } } : null;
}

async function carryOutStored(by: OperatorContext, { kind, payload }: StoredOrder): Promise<void> {
  invariant(kind in orderKinds, "an order is stored of a known kind");
  const { carryOut } = orderKinds[kind as OrderKind] as {
    carryOut: (by: OperatorContext, ordered: unknown) => Promise<unknown>;
  };
  await carryOut(by, fromPayload(payload));
}

/** JSON has no whole numbers of this size: they are stored as texts under names that mark them. */
function toPayload(ordered: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(ordered).map(([name, value]) =>
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
