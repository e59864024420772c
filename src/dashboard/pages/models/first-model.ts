import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { byAmount, unitsOf } from "../../i18n/decimal.ts";

/** Whether a model makes vectors of texts, and answers no chat. */
export function isEmbeddings({ kind }: Pick<Model, "kind">): boolean {
  return kind === "embeddings";
}

/** The models that answer a chat. */
export function chatModelsOf(models: readonly Model[]): readonly Model[] {
  return models.filter((model) => !isEmbeddings(model));
}

/** The chat model to begin with: a free one works before the first top-up. */
export function firstModelOf(models: readonly Model[]): Model | undefined {
  const chat = chatModelsOf(models);
  return chat.find(({ pricing }) => pricing?.input === "0" && pricing.output === "0") ?? chat[0];
}

/** The id of the cheapest chat model that is not free, else of the first; the same that the Markdown names. */
export function exampleOf(models: readonly Model[]): string {
  const chatModels = chatModelsOf(models);
  const priced = chatModels.filter(({ pricing }) => unitsOf(pricing?.input ?? "0") > 0n);
  const [example = chatModels[0]] = priced.toSorted((one, other) =>
    byAmount(other.pricing?.input ?? "0", one.pricing?.input ?? "0"),
  );
  return example?.id ?? "MODEL_ID";
}
