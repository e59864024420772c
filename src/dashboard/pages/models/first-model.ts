import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";

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
