// All input and all output tokens, of every kind, of a record or of a sum.

import type { OtherTokens } from "#gen/saldo/billing/v1/usage_pb.ts";

type Counts = {
  readonly inputTokensUncached: number | bigint;
  readonly inputTokensCached: number | bigint;
  readonly outputTokens: number | bigint;
  readonly otherTokens?: OtherTokens | undefined;
};

export function inputOf({ inputTokensUncached, inputTokensCached, otherTokens }: Counts): bigint {
  const plain = BigInt(inputTokensUncached) + BigInt(inputTokensCached);
  if (otherTokens === undefined) return plain;
  const { cacheWrite, cacheWrite1h, audioInput, imageInput } = otherTokens;
  return plain + cacheWrite + cacheWrite1h + audioInput + imageInput;
}

export function outputOf({ outputTokens, otherTokens }: Counts): bigint {
  return BigInt(outputTokens) + (otherTokens?.imageOutput ?? 0n);
}
