// A key that a request came with.

/** A key that was valid at most five seconds ago. */
export type VerifiedKey = {
  readonly keyId: string;
  readonly accountId: string;
  /** Requests in any 60 seconds; 0: no limit. */
  readonly rateLimit: number;
  /** The models that it may ask, as in KeyLimits. Absent: all. */
  readonly allowedModels?: readonly string[];
  /** The person who made it. Absent: not a person, or not known. */
  readonly personId?: string;
  /** The networks whose clients may use it, as in KeyLimits. Absent: all. */
  readonly allowedNetworks?: readonly string[];
};
