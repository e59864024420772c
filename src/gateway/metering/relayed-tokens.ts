/** The relayed output, by our own count. */
export interface RelayedTokens {
  /** Whether it may be more than twice so many tokens. Looks at bytes only, so a yes has to be checked by counting. */
  mayExceedTwice(tokens: number): boolean;
  estimateTokens(): Promise<number>;
  /** How many of those are sound and pictures, whose tokens differ from model to model. */
  estimateMediaTokens(): Promise<number>;
}
