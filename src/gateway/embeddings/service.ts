// EmbeddingsService: translates typed messages into the OpenAI JSON that the use case reads, and its answer back. Requests of
// REST clients do not pass here; their bytes go to the use case unchanged.

import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type { CreateEmbeddingsRequest, EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
import { ValidationError } from "../../kernel/errors.ts";
import type { ChatCall, Gateway } from "../chat.ts";
import { RpcSink } from "../rpc-sink.ts";
import { decodeVector } from "./vectors.ts";

export type EmbeddingsServiceDependencies = {
  readonly gateway: Gateway;
  /** The caller, and the facts that the transport has about the call. */
  readonly caller: (context: HandlerContext) => Promise<Omit<ChatCall, "body" | "endpoint">>;
};

/** Makes the service. */
export function createEmbeddingsService({
  gateway,
  caller,
}: EmbeddingsServiceDependencies): ServiceImpl<typeof EmbeddingsService> {
  return {
    async createEmbeddings(request, context) {
      const sink = new RpcSink(context.signal);
      const body = toOpenAiBody(request);
      await gateway.answerChat({ ...(await caller(context)), endpoint: "embeddings", body }, sink);
      const answer = sink.wholeAnswer();
      // The gateway ends without an error when its caller has left: there is no answer, and no reader.
      if (answer === null) throw new ConnectError("The call was canceled.", Code.Canceled);
      return fromOpenAi(answer as OwnAnswer);
    },
  };
}

/** Vectors come in base64, which is quicker to read than numbers. */
function toOpenAiBody({ model, input, tokenInputs, dimensions, user }: CreateEmbeddingsRequest): Buffer {
  if (input.length > 0 && tokenInputs.length > 0) {
    throw new ValidationError([{ field: "token_inputs", rule: "one_of", message: "must be empty where input is not" }]);
  }
  const body = {
    model,
    input: tokenInputs.length > 0 ? tokenInputs.map(({ tokens }) => tokens) : input,
    encoding_format: "base64",
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(user === "" ? {} : { user }),
  };
  return Buffer.from(JSON.stringify(body));
}

/** The answer as the gateway writes it. */
type OwnAnswer = {
  readonly data: readonly { readonly index: number; readonly embedding: string }[];
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number; readonly cost_idr: string };
};

function fromOpenAi({ data, model, usage }: OwnAnswer) {
  return {
    object: "list",
    model,
    data: data.map(({ index, embedding }) => ({ object: "embedding", index, embedding: decodeVector(embedding) })),
    usage: { promptTokens: usage.prompt_tokens, totalTokens: usage.total_tokens, costIdr: usage.cost_idr },
  };
}
