import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";

/** The model to begin with: a free one answers somebody who has not paid yet. */
export function firstModelOf(models: readonly Model[]): Model | undefined {
  return models.find(({ pricing }) => pricing?.input === "0" && pricing.output === "0") ?? models[0];
}
