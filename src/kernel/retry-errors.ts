// What a request meets whose Idempotency-Key another one has used.

import { DomainError } from "./errors.ts";
import type { Money } from "./money.ts";
import { rupiahText } from "./rupiah-text.ts";

/** A request with the same Idempotency-Key is running. */
export class AlreadyRunning extends DomainError {
  readonly code = "already_running";
  readonly retryAfterSeconds = 2;
  constructor() {
    super("A request with this Idempotency-Key is running. Try again when it has ended.");
  }
}

/** A request with the same Idempotency-Key was answered and charged within the last 24 hours. */
export class AlreadyAnswered extends DomainError {
  readonly code = "already_answered";
  /** The request that was answered, and what it was charged. */
  readonly requestId: string;
  readonly cost: Money;
  constructor({ requestId, cost }: { requestId: string; cost: Money }) {
    super(
      `The request ${requestId} with this Idempotency-Key was answered and cost ${rupiahText(cost)}. Nothing more is charged.`,
    );
    this.requestId = requestId;
    this.cost = cost;
  }
}

/** The Idempotency-Key was used for another body within the last 24 hours. */
export class IdempotencyConflict extends DomainError {
  readonly code = "idempotency_conflict";
  constructor() {
    super("This Idempotency-Key was used for a request with another body. Use a new one for a new request.");
  }
}
