// The memory for the bodies of requests while they arrive. All of them share one budget of bytes, so memory has a bound for any
// number of requests. One caller may send only a few large bodies at once, and a body that arrives too slowly is ended. Bodies
// of requests without credentials (sign-in, webhooks) have a small budget of their own: strangers cannot use up that of callers.

import { type DomainError, ServiceBusy } from "../../kernel/errors.ts";
import { Slots } from "../../kernel/slots.ts";
import { RequestTimeout, TooManyUploads } from "../../kernel/intake-errors.ts";

const MIB = 1024 * 1024;

export type IntakeSettings = {
  /** The most bytes of bodies that one process keeps while they arrive. */
  readonly budgetBytes: number;
  /** How many large bodies one caller may send to one process at once. */
  readonly uploadsPerCaller: number;
  /** A body is ended when less than the least rate arrives in this time. */
  readonly patienceMs: number;
};

export const DEFAULT_INTAKE: IntakeSettings = { budgetBytes: 256 * MIB, uploadsPerCaller: 8, patienceMs: 10_000 };

/** Bodies over this size count as uploads of their caller. */
export const LARGE_BODY_BYTES = MIB;
/** The least bytes per second, on average over the patience. */
const LEAST_BYTES_PER_SECOND = 1024;
/** The part of the budget that bodies without a known caller may use. */
const STRANGERS_PART = 16;
/** When a client may send a body again that found no room. */
const RETRY_AFTER_SECONDS = 1;
const LOOKS_PER_PATIENCE = 10;

/** The facts of a body to be received. */
export type BodyRules = {
  /** The most bytes it may have. */
  readonly limit: number;
  /** The caller, for the bound on uploads. Null: unknown. */
  readonly caller: string | null;
};

/** The figures of the metrics. */
export type IntakeStatistics = {
  /** Bytes of known callers' bodies that are being received. */
  bytesInFlight: number;
  readonly refused: { overloaded: number; uploads: number; slow: number };
};

/** A body that is being received. */
export type Arriving = {
  readonly caller: string | null;
  /** The caller whose upload it is; null: it is not large. */
  readonly upload: string | null;
  /** Called when it arrives too slowly. */
  readonly onSlow: (error: DomainError) => void;
  bytes: number;
  /** The bytes that had arrived when the present period of patience began; -1 before the first check. */
  bytesBefore: number;
  stretchBeganMs: number;
  /** Removes it from the bodies that arrive; null once it is removed. */
  remove: (() => void) | null;
};

/** Counts the bodies of one process. */
export class BodyBudget {
  readonly #settings: IntakeSettings;
  readonly #arriving = new Slots<Arriving>();
  readonly #uploads = new Map<string, number>();
  readonly statistics: IntakeStatistics = { bytesInFlight: 0, refused: { overloaded: 0, uploads: 0, slow: 0 } };
  #strangersBytes = 0;
  #watch: NodeJS.Timeout | null = null;
  #lookedAtMs = 0;

  constructor(settings: IntakeSettings = DEFAULT_INTAKE) {
    this.#settings = settings;
  }

  /** Begins a body of a stated length, null where there is none, or returns the error: TooManyUploads, ServiceBusy. */
  open({ limit, caller }: BodyRules, stated: number | null, onSlow: Arriving["onSlow"]): Arriving | DomainError {
    // Without a length it may be as large as its path accepts.
    const upload = caller !== null && (stated ?? limit) > LARGE_BODY_BYTES ? caller : null;
    if (this.#isFull(stated ?? 0, caller)) return this.#overloaded();
    if (upload !== null) {
      const running = this.#uploads.get(upload) ?? 0;
      if (running >= this.#settings.uploadsPerCaller) {
        this.statistics.refused.uploads += 1;
        return new TooManyUploads();
      }
      this.#uploads.set(upload, running + 1);
    }
    const arriving: Arriving = { caller, upload, onSlow, bytes: 0, bytesBefore: -1, stretchBeganMs: 0, remove: null };
    arriving.remove = this.#arriving.add(arriving);
    if (this.#watch === null) this.#startWatch();
    return arriving;
  }

  /** Counts the arrived bytes of a body. Returns the error that ends it: ServiceBusy. */
  add(arriving: Arriving, bytes: number): DomainError | null {
    arriving.bytes += bytes;
    this.#count(bytes, arriving.caller);
    return this.#isFull(0, arriving.caller) ? this.#overloaded() : null;
  }

  /** Frees the room of a body; false: it was freed before. */
  close(arriving: Arriving): boolean {
    if (arriving.remove === null) return false;
    arriving.remove();
    arriving.remove = null;
    const { caller, upload, bytes } = arriving;
    this.#count(-bytes, caller);
    if (upload === null) return true;
    const left = (this.#uploads.get(upload) ?? 1) - 1;
    if (left === 0) this.#uploads.delete(upload);
    else this.#uploads.set(upload, left);
    return true;
  }

  #isFull(more: number, caller: string | null): boolean {
    const { budgetBytes } = this.#settings;
    return caller === null
      ? this.#strangersBytes + more > budgetBytes / STRANGERS_PART
      : this.statistics.bytesInFlight + more > budgetBytes;
  }

  #overloaded(): ServiceBusy {
    this.statistics.refused.overloaded += 1;
    return new ServiceBusy(RETRY_AFTER_SECONDS);
  }

  /** Strangers' bytes count on their own: callers always find the whole budget. */
  #count(bytes: number, caller: string | null): void {
    if (caller === null) this.#strangersBytes += bytes;
    else this.statistics.bytesInFlight += bytes;
  }

  /** One timer for all bodies: most have arrived before its first check. */
  #startWatch(): void {
    this.#lookedAtMs = performance.now();
    this.#watch = setInterval(() => this.#endSlow(), this.#settings.patienceMs / LOOKS_PER_PATIENCE).unref();
  }

  #endSlow(): void {
    const { patienceMs } = this.#settings;
    const nowMs = performance.now();
    // A process that was blocked itself has not read the bytes that arrived meanwhile.
    const wasHeldUp = nowMs - this.#lookedAtMs > patienceMs / 2;
    this.#lookedAtMs = nowMs;
    const least = (LEAST_BYTES_PER_SECOND * patienceMs) / 1_000;
    for (const arriving of this.#arriving.values()) {
      if (arriving.bytesBefore < 0 || wasHeldUp) beginStretch(arriving, nowMs);
      if (nowMs - arriving.stretchBeganMs < patienceMs) continue;
      if (arriving.bytes - arriving.bytesBefore >= least) {
        beginStretch(arriving, nowMs);
        continue;
      }
      this.statistics.refused.slow += 1;
      arriving.onSlow(new RequestTimeout());
    }
    if (this.#arriving.size > 0 || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }
}

function beginStretch(arriving: Arriving, nowMs: number): void {
  arriving.bytesBefore = arriving.bytes;
  arriving.stretchBeganMs = nowMs;
}
