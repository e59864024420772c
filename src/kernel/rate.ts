/** The state of a key's window after a decision, for the rate headers of an answer. */
export type RateState = {
  /** Requests allowed in any 60 seconds; 0: no limit. */
  readonly limit: number;
  /** How many more would be allowed now. */
  readonly remaining: number;
  /** Seconds until the oldest counted request leaves the window, 0 to 60. */
  readonly resetSeconds: number;
  /** The key's tokens in a minute. Absent: it has no limit of them. */
  readonly tokens?: TokenRate;
};

/** The state of a key's tokens after a decision. */
export type TokenRate = {
  /** Tokens allowed in any 60 seconds. */
  readonly limit: number;
  /** What is left of them now, with the whole size of what runs taken off. */
  readonly remaining: number;
};
