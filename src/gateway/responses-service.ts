// ResponsesService: translates typed messages into OpenAI's JSON, which its protocol reads, and the answer back. Requests of REST
// clients do not pass here; their bytes go to the protocol unchanged.

import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  CreateResponseResponseSchema,
  type ResponseRequest,
  ResponseRequestSchema,
  type ResponsesService,
} from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { InternalError } from "../kernel/errors.ts";
import { requireAllowed } from "../keys/key-limits.ts";
import type { ChatCall, Gateway } from "./chat.ts";
import { answerConversation, type ConversationDeps } from "./conversation/answer-conversation.ts";
import type { CountWindows } from "./conversation/count-window.ts";
import { countResponsesInput } from "./conversation/responses/count-input.ts";
import { responsesProtocol } from "./conversation/responses/responses-protocol.ts";
import { RpcOutput } from "./conversation/rpc-output.ts";
import { isObject } from "./request/field-rules.ts";

export type ResponsesServiceDependencies = {
  readonly gateway: Gateway;
  readonly keys: ConversationDeps["keys"];
  /** The models that the caller may ask. Null: all. */
  readonly allowedModelsOf: (context: HandlerContext) => readonly string[] | null;
  readonly takeCountedBytes: CountWindows["takeCountedBytes"];
  /** The caller, and the facts that the transport has about the call. */
  readonly caller: (context: HandlerContext) => Promise<Omit<ChatCall, "body">>;
};

/** Makes the service. */
export function createResponsesService({
  gateway,
  keys,
  allowedModelsOf,
  takeCountedBytes,
  caller,
}: ResponsesServiceDependencies): ServiceImpl<typeof ResponsesService> {
  const deps = { gateway, keys, protocol: responsesProtocol };
  return {
    async createResponse(request, context) {
      const output = new RpcOutput(context.signal);
      await answerConversation(deps, { ...(await caller(context)), body: toResponsesBody(request, false) }, output);
      const answer = output.wholeAnswer;
      // The gateway ends without an error when its caller has left: there is no answer, and no reader.
      if (answer === null) throw new ConnectError("The call was canceled.", Code.Canceled);
      // What an answer repeats of its request is no part of the contract.
      return fromJson(CreateResponseResponseSchema, typed(toJsonObject(answer)), { ignoreUnknownFields: true });
    },

    async *streamResponse(request, context) {
      const call = { ...(await caller(context)), body: toResponsesBody(request, true) };
      const output = new RpcOutput(context.signal);
      for await (const data of output.eventsOf(answerConversation(deps, call, output))) {
        const event = toJsonObject(data);
        const { type, sequence_number: sequenceNumber } = event;
        yield { type: textOf(type), sequenceNumber: typeof sequenceNumber === "number" ? sequenceNumber : 0, event };
      }
    },

    async countInputTokens(request, context) {
      const { key } = await caller(context);
      requireAllowed(allowedModelsOf(context), request.model);
      const body = toResponsesBody(request, false);
      takeCountedBytes(key.keyId, body.length);
      const { object, input_tokens: inputTokens } = await countResponsesInput(body);
      return { object, inputTokens };
    },
  };
}

/** Some upstreams have fractions of a second. */
function typed({ created_at: createdAt, ...answer }: JsonObject): JsonObject {
  return { ...answer, created_at: typeof createdAt === "number" ? Math.floor(createdAt) : 0 };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The OpenAI JSON of a typed request. A field of the message wins over the same name in `extra`. */
function toResponsesBody(request: ResponseRequest, stream: boolean): Buffer {
  const { extra, ...named } = toJsonObject(toJson(ResponseRequestSchema, request));
  return Buffer.from(JSON.stringify({ ...(isObject(extra) ? extra : {}), ...named, stream }));
}

function toJsonObject(value: JsonValue | object): JsonObject {
  if (!isObject(value)) throw new InternalError();
  return value as JsonObject;
}
