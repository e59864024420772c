import { ValidationError } from "../../kernel/errors.ts";

/** The header by which a client names a request, so that its retries are one request. */
export const IDEMPOTENCY_HEADER = "idempotency-key";

const NAME = /^[\x20-\x7e]{1,255}$/;

/** The name in the header; null where there is none. Errors: ValidationError where it is no name. */
export function readIdempotencyKey(value: string | readonly string[] | null | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && NAME.test(value)) return value;
  const message = "must be 1 to 255 printable ASCII characters";
  throw new ValidationError([{ field: "Idempotency-Key", rule: "header", message }]);
}
