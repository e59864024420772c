// Receives the bodies of requests: whole for the REST routes, or piece by piece for RPC. Both count in the budget of the
// process (body-budget.ts).

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../../identity/principal.ts";
import { DomainError, PayloadTooLarge } from "../../kernel/errors.ts";
import { principalOf } from "../calls/call.ts";
import type { BodyMeter } from "../calls/read-message.ts";
import { BodyBudget, type BodyRules, type IntakeSettings, type IntakeStatistics } from "./body-budget.ts";

const NOTHING = Buffer.alloc(0);

/** Called once: with the whole body, or with the error. Not called for a client that leaves. */
export type BodyTaker = (error: DomainError | null, body: Buffer) => void;

/** The responses of clients that wait for `100 Continue` before they send their body. */
const waitingForContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Makes a request with `Expect: 100-continue` wait until its body is read. */
export function holdContinue(request: IncomingMessage, response: ServerResponse): void {
  waitingForContinue.set(request, response);
}

/** Receives the bodies of one process. */
export class BodyIntake {
  readonly #budget: BodyBudget;

  constructor(settings?: IntakeSettings) {
    this.#budget = new BodyBudget(settings);
  }

  get statistics(): IntakeStatistics {
    return this.#budget.statistics;
  }

  /** Receives a body whole. Errors, given to the taker: PayloadTooLarge, TooManyUploads, ServiceBusy, RequestTimeout. */
  read(request: IncomingMessage, rules: BodyRules, take: BodyTaker): void {
    // A client that has left cannot be answered, and no later event reports it.
    if (request.destroyed) return;
    const budget = this.#budget;
    const { limit } = rules;
    const stated = statedLengthOf(request);
    const arriving =
      stated !== null && stated > limit
        ? new PayloadTooLarge(limit)
        : budget.open(rules, stated, (error) => end(error));
    if (arriving instanceof DomainError) {
      take(arriving, NOTHING);
      return;
    }
    const parts: Buffer[] = [];
    const onData = (part: Buffer): void => {
      const refusal = budget.add(arriving, part.length);
      if (arriving.bytes > limit) end(new PayloadTooLarge(limit));
      else if (refusal !== null) end(refusal);
      else parts.push(part);
    };
    const onEnd = (): void => end(null);
    const onClose = (): void => void budget.close(arriving);
    const end = (error: DomainError | null): void => {
      if (!budget.close(arriving)) return;
      if (error === null) {
        const [first] = parts;
        take(null, parts.length === 1 && first !== undefined ? first : Buffer.concat(parts));
        return;
      }
      request.off("data", onData).off("end", onEnd).off("close", onClose).pause();
      take(error, NOTHING);
    };
    if (request.headers.expect !== undefined) waitingForContinue.get(request)?.writeContinue();
    request.on("error", ignore).on("close", onClose).on("end", onEnd).on("data", onData);
  }

  /** Counts a body that RPC reads piece by piece. Errors of the pieces: TooManyUploads, ServiceBusy, RequestTimeout. */
  readonly meter: BodyMeter = (body, call) => metered(this.#budget, body, call);
}

async function* metered(
  budget: BodyBudget,
  body: AsyncIterable<Uint8Array>,
  { values, limit, stated, signal }: Parameters<BodyMeter>[1],
): AsyncGenerator<Uint8Array> {
  const slow = Promise.withResolvers<never>();
  slow.promise.catch(ignore);
  // Its first piece is read once its caller is known.
  const caller = callerNameOf(principalOf({ values }));
  const arriving = budget.open({ limit, caller }, stated, slow.reject);
  if (arriving instanceof DomainError) throw arriving;
  const close = (): void => void budget.close(arriving);
  // No event shows that a reader has enough.
  signal.addEventListener("abort", close, { once: true });
  try {
    const pieces = body[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([pieces.next(), slow.promise]);
      if (next.done === true) return;
      const refusal = budget.add(arriving, next.value.length);
      if (refusal !== null) throw refusal;
      yield next.value;
    }
  } finally {
    close();
    signal.removeEventListener("abort", close);
  }
}

/** The key of a caller's uploads; null: the caller is unknown. */
export function callerNameOf(principal: Principal): string | null {
  if (principal.kind === "public") return null;
  if (principal.kind === "api_key") return principal.keyId;
  if (principal.kind === "merchant") return principal.merchantId;
  return principal.kind === "service" ? principal.tokenId : principal.personId;
}

/** The value of Content-Length; Node's parser accepts only digits. Null: the body comes in chunks. */
function statedLengthOf({ headers }: IncomingMessage): number | null {
  const stated = headers["content-length"];
  if (stated !== undefined) return Number(stated);
  return headers["transfer-encoding"] === undefined ? 0 : null;
}

/** A client that leaves in the middle of its body gets no answer. */
function ignore(): void {}
