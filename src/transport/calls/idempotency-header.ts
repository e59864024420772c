import { ValidationError } from "../../kernel/errors.ts";

/** The header with the idempotency key of a request: its retries count as one request. */
export const IDEMPOTENCY_HEADER = "idempotency-key";

const NAME = /^[\x20-\x7e]{1,255}$/;

/** The idempotency key in the header; null where there is none. Errors: ValidationError where its form is wrong. */
export function readIdempotencyKey(value: string | readonly string[] | null | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && NAME.test(value)) return value;
  const message = "must be 1 to 255 printable ASCII characters";
  throw new ValidationError([{ field: "Idempotency-Key", rule: "header", message }]);
}
