// GatewayService: translates typed messages into the OpenAI JSON that the use case reads, and its answer back. Requests of REST
// clients do not pass here; their bytes go to the use case unchanged.

import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  type ChatCompletionRequest,
  ChatCompletionRequestSchema,
  CreateChatCompletionResponseSchema,
  type GatewayService,
  StreamChatCompletionResponseSchema,
} from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { nearestModel } from "../catalog/nearest-model.ts";
import { InternalError, ModelNotFound } from "../kernel/errors.ts";
import type { ApiKey } from "../keys/api-key.ts";
import type { MemberBudget } from "../keys/member-budgets.ts";
import { isModelAllowed, requireAllowed } from "../keys/key-limits.ts";
import { toProtoKey, toProtoOwnKey } from "../keys/proto-key.ts";
import type { VerifiedKey } from "../keys/verified-key.ts";
import type { Gateway } from "./chat.ts";
import { contractAnswer } from "./answer/contract-answer.ts";
import { toCodexModel } from "./proto-codex-model.ts";
import { toProtoModel } from "./proto-model.ts";
import { isObject } from "./request/field-rules.ts";
import { RpcSink } from "./rpc-sink.ts";

export type GatewayServiceDependencies = {
  readonly gateway: Gateway;
  readonly catalog: Catalog;
  /** The models that the caller may ask. Null: all. */
  readonly allowedModelsOf: (context: HandlerContext) => readonly string[] | null;
  /** The key that was sent, as it is now. */
  readonly ownKey: (context: HandlerContext) => Promise<{
    readonly key: ApiKey;
    /** The budget of the member who made it. Null: none. */
    readonly memberBudget: MemberBudget | null;
  }>;
  /** The caller, and the facts that the transport has about the call. */
  readonly caller: (context: HandlerContext) => Promise<{
    readonly key: VerifiedKey;
    readonly requestId: string;
    readonly receivedAtMs: number;
    readonly idempotencyKey?: string | null;
  }>;
};

/** Makes the service. */
export function createGatewayService(deps: GatewayServiceDependencies): ServiceImpl<typeof GatewayService> {
  const { gateway, catalog, caller, allowedModelsOf, ownKey } = deps;
  return {
    async createChatCompletion(request, context) {
      const sink = new RpcSink(context.signal);
      await gateway.answerChat({ ...(await caller(context)), body: toOpenAiBody(request, false) }, sink);
      const answer = sink.wholeAnswer();
      // The gateway ends without an error when its caller has left: there is no answer, and no reader.
      if (answer === null) throw new ConnectError("The call was canceled.", Code.Canceled);
      return readAnswer(() => fromJson(CreateChatCompletionResponseSchema, inContract(answer)));
    },

    async *streamChatCompletion(request, context) {
      const call = { ...(await caller(context)), body: toOpenAiBody(request, true) };
      const sink = new RpcSink(context.signal);
      sink.follow(gateway.answerChat(call, sink));
      try {
        for await (const chunk of sink.chunks()) {
          yield readAnswer(() => fromJson(StreamChatCompletionResponseSchema, inContract(chunk)));
        }
      } finally {
        sink.leave();
      }
    },

    async listModels({ clientVersion }, context) {
      const { models, upstreams } = await catalog.snapshot();
      const allowed = allowedModelsOf(context);
      const sorted = [...models.values()]
        .filter(({ id }) => isModelAllowed(allowed, id))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const [first, last] = [sorted.at(0), sorted.at(-1)];
      return {
        object: "list",
        data: sorted.map((model) => toProtoModel(model, upstreams)),
        ...(first === undefined || last === undefined ? {} : { firstId: first.id, lastId: last.id }),
        models: clientVersion === "" ? [] : sorted.filter(({ kind }) => kind === "chat").map(toCodexModel),
      };
    },

    async getModel({ id }, context) {
      const { models, upstreams } = await catalog.snapshot();
      const model = models.get(id);
      if (model === undefined) throw new ModelNotFound(id, nearestModel(id, models.keys()));
      requireAllowed(allowedModelsOf(context), id);
      return { model: toProtoModel(model, upstreams) };
    },

    async getKey(_request, context) {
      const { key, memberBudget } = await ownKey(context);
      return { key: toProtoKey(key, memberBudget), own: toProtoOwnKey(key, memberBudget) };
    },
  };
}

function inContract(answer: Readonly<Record<string, unknown>>): JsonValue {
  return contractAnswer(answer) as JsonObject;
}

function readAnswer<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new InternalError({ cause });
  }
}

/** The OpenAI JSON of a typed request. A field of the message wins over the same name in `extra`. */
function toOpenAiBody(request: ChatCompletionRequest, stream: boolean): Buffer {
  const json = toJson(ChatCompletionRequestSchema, request);
  if (!isJsonObject(json)) throw new InternalError();
  const { extra, messages, ...named } = json;
  const body = {
    ...(isJsonObject(extra) ? extra : {}),
    ...named,
    messages: Array.isArray(messages) ? messages.map(toOpenAiMessage) : [],
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  };
  return Buffer.from(JSON.stringify(body));
}

/** OpenAI has one `content` for text, parts, or nothing beside a tool call. */
function toOpenAiMessage(message: JsonValue): JsonValue {
  if (!isJsonObject(message)) return message;
  const { contentParts, ...rest } = message;
  if (contentParts !== undefined) return { ...rest, content: contentParts };
  return "content" in rest ? rest : { ...rest, content: null };
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value);
}
