// The names by which a usage record shows the origin of its counts. They are kept in records, so they are never renamed.

/** How counts were corrected or estimated where they differ from the upstream's report. */
export type MeteringRule =
  /** Tokens that only the total counts are output: thinking at Gemini's OpenAI endpoint. */
  | "thinking_in_total"
  /** Tokens that only the total counts are sound: Voxtral at Mistral. */
  | "audio_in_total"
  /** A number was negative, fractional, too large, no number, or a part was larger than its whole. */
  | "impossible_count"
  /** The total is less than its parts. */
  | "total_below_parts"
  /** The input was cut to what the body and its media can come to. */
  | "input_above_bound"
  /** The answer reports a tier, a speed, a place or runs of tools that have no price here; its tokens are billed as others. */
  | "priced_otherwise"
  /** Cache writes for an hour that the request did not ask for are billed as writes for minutes. */
  | "long_writes_unasked"
  /** The output was cut to its bound, or to what was relayed where that is more. */
  | "output_above_bound"
  /** The reported output was far more than the bound and than what was relayed can be, so the output is our count. */
  | "output_far_above_relayed"
  /** A count was so large that no model has it: that side is our count, and no loss is posted for it. */
  | "implausible_count"
  /** The reported output was less than half of what was relayed, so the output is our count. */
  | "output_below_relayed"
  /** No whole output count was reported, so the output is our count. */
  | "output_estimated"
  /** The answer was ended early: the bound or the balance did not cover its rest, which was neither shown nor billed. */
  | "output_withheld"
  /** No input count was reported, so the input is our count. */
  | "input_estimated"
  /** The input is our count, and the input of the last exact request is taken to be cached. */
  | "cached_assumed";
