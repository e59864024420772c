import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";

/** The model to begin with: a free one works before the first top-up. */
export function firstModelOf(models: readonly Model[]): Model | undefined {
  return models.find(({ pricing }) => pricing?.input === "0" && pricing.output === "0") ?? models[0];
}
