import type { Pool, PoolClient } from "pg";
import type { SecretColumns } from "../../../database/secrets/secret-columns.ts";
import { openText } from "../../../kernel/sealed-text.ts";

/** The status of a sandbox payment, in the provider's own words. */
export type SandboxStatus =
  | "pending"
  | "review"
  | "paid"
  | "failed"
  | "expired"
  | "canceled"
  | "partially_refunded"
  | "refunded"
  | "charged_back";

/** A payment as the sandbox provider keeps it. Money is micro-rupiah. */
export type SandboxPayment = {
  readonly orderId: string;
  /** In the address of the page; it cannot be guessed. */
  readonly token: string;
  readonly amount: bigint;
  readonly paid: bigint;
  readonly givenBack: bigint;
  readonly status: SandboxStatus;
  readonly returnUrl: string;
  readonly expiresAt: Date;
  /** What the card does that pays it and is saved: it is charged or refused later. Null: none is saved. */
  readonly savedCard: SandboxCard | null;
};

/** `unsaved`: the payer agreed to save a card, and has not paid with one. */
export type SandboxCard = "unsaved" | "good" | "refused";

const COLUMNS = `
order_id AS "orderId", token, amount, paid, given_back AS "givenBack", return_url AS "returnUrl", expires_at AS "expiresAt", saved_card AS "savedCard",
CASE WHEN status = 'pending' AND expires_at < clock_timestamp() THEN 'expired' ELSE status END AS status`;

const OPEN = `
INSERT INTO sandbox_payment (order_id, token, amount, return_url, expires_at, saved_card)
VALUES ($1, $2, $3::bigint, $4, $5::timestamptz, $6) ON CONFLICT (order_id) DO NOTHING`;
const CHARGE = `
INSERT INTO sandbox_payment (order_id, token, amount, return_url, expires_at, status, paid)
VALUES ($1, $2, $3::bigint, '', clock_timestamp(), $4, $5::bigint) ON CONFLICT (order_id) DO NOTHING`;
const OF_ORDER = `SELECT ${COLUMNS} FROM sandbox_payment WHERE order_id = $1`;
const OF_TOKEN = `SELECT ${COLUMNS} FROM sandbox_payment WHERE token = $1`;
const MOVE = `
UPDATE sandbox_payment SET status = $2, paid = $3::bigint, given_back = $4::bigint, saved_card = $6
WHERE order_id = $1 AND status = ANY ($5::text[]) RETURNING ${COLUMNS}`;
const SECRET = `SELECT webhook_secret FROM sandbox_provider`;

export async function openPayment(
  pool: Pool,
  payment: Pick<SandboxPayment, "orderId" | "token" | "amount" | "returnUrl" | "expiresAt" | "savedCard">,
): Promise<void> {
  const { orderId, token, amount, returnUrl, expiresAt, savedCard } = payment;
  await pool.query(OPEN, [orderId, token, amount, returnUrl, expiresAt, savedCard]);
}

/** Charges a card: a payment that is paid, or one that failed. */
export async function chargeCard(
  pool: Pool,
  { orderId, token, amount, isGood }: { orderId: string; token: string; amount: bigint; isGood: boolean },
): Promise<void> {
  await pool.query(CHARGE, [orderId, token, amount, isGood ? "paid" : "failed", isGood ? amount : 0n]);
}

export async function paymentOfOrder(pool: Pool, orderId: string): Promise<SandboxPayment | null> {
  return (await pool.query<SandboxPayment>(OF_ORDER, [orderId])).rows[0] ?? null;
}

export async function paymentOfToken(pool: Pool, token: string): Promise<SandboxPayment | null> {
  return (await pool.query<SandboxPayment>(OF_TOKEN, [token])).rows[0] ?? null;
}

/** Changes a payment's status if it is one of these. Null: it is not. */
export async function movePayment(
  database: Pick<Pool | PoolClient, "query">,
  moved: Pick<SandboxPayment, "orderId" | "status" | "paid" | "givenBack" | "savedCard">,
  from: readonly SandboxStatus[],
): Promise<SandboxPayment | null> {
  const { orderId, status, paid, givenBack, savedCard } = moved;
  return (
    (await database.query<SandboxPayment>(MOVE, [orderId, status, paid, givenBack, from, savedCard])).rows[0] ?? null
  );
}

/** The secret of the sandbox. It is made with the schema, in clear, and encrypted by the first start. */
export const SANDBOX_SECRETS: SecretColumns = {
  table: "sandbox_provider",
  id: "the_row",
  idType: "boolean",
  columns: ["webhook_secret"],
  nameOf: () => "sandbox_provider.webhook_secret",
  formerIs: "plain",
};

/** What the sandbox signs its notifications with. */
export async function readWebhookSecret(pool: Pool): Promise<string> {
  const stored = (await pool.query<{ webhook_secret: string }>(SECRET)).rows[0]?.webhook_secret ?? "";
  return openText(SANDBOX_SECRETS.nameOf("webhook_secret", "true"), stored);
}
