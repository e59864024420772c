import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CodexModelSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import type { CatalogModel } from "../catalog/catalog-model.ts";

/** Codex puts this in front of a conversation with a model that it does not know. */
const INSTRUCTIONS =
  "You are a coding agent in a terminal on the user's machine. Read, change and test the user's files with your tools. " +
  "Keep changes small and correct, and finish the task before you answer.";
/** The largest output of a tool that Codex sends on, in tokens, as it has it for its own models. */
const TOOL_OUTPUT_TOKENS = 10_000;
/** Codex refuses a list that names another kind of input. */
const CODEX_INPUTS: readonly string[] = ["text", "image"];

/** A catalog model as Codex reads it, with its place in the list. */
export function toCodexModel(model: CatalogModel, index: number): MessageInitShape<typeof CodexModelSchema> {
  return {
    slug: model.id,
    displayName: model.name,
    baseInstructions: INSTRUCTIONS,
    shellType: "unified_exec",
    visibility: "list",
    supportedInApi: true,
    priority: index + 1,
    truncationPolicy: { mode: "tokens", limit: TOOL_OUTPUT_TOKENS },
    contextWindow: model.contextLength,
    maxContextWindow: model.contextLength,
    inputModalities: model.inputModalities.filter((each) => CODEX_INPUTS.includes(each)),
  };
}
