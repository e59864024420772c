// MessagesService: translates typed messages into Anthropic's JSON, which its protocol reads, and the answer back. Requests of REST
// clients for answers do not pass here; their bytes go to the protocol unchanged.

import {
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  CountTokensRequestSchema,
  CreateMessageResponseSchema,
  type MessageRequest,
  MessageRequestSchema,
  type MessagesService,
  StreamMessageResponseSchema,
} from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { InternalError } from "../kernel/errors.ts";
import { requireAllowed } from "../keys/key-limits.ts";
import { soldModel } from "./answer/serve.ts";
import type { ChatCall, Gateway } from "./chat.ts";
import { answerConversation, type ConversationDeps } from "./conversation/answer-conversation.ts";
import type { CountWindows } from "./conversation/count-window.ts";
import { countMessages } from "./conversation/messages/count-tokens.ts";
import { messagesProtocol } from "./conversation/messages/messages-protocol.ts";
import { protocolHeaders } from "./conversation/protocol-headers.ts";
import { RpcOutput } from "./conversation/rpc-output.ts";
import { isObject } from "./request/field-rules.ts";

export type MessagesServiceDependencies = {
  readonly gateway: Gateway;
  readonly keys: ConversationDeps["keys"];
  readonly catalog: Pick<Catalog, "snapshot">;
  /** The models that the caller may ask. Null: all. */
  readonly allowedModelsOf: (context: HandlerContext) => readonly string[] | null;
  /** Takes a slot of a key for a count. Errors: RateLimited. */
  readonly takeCountedBytes: CountWindows["takeCountedBytes"];
  /** The caller, and the facts that the transport has about the call. */
  readonly caller: (context: HandlerContext) => Promise<Omit<ChatCall, "body">>;
};

/** Makes the service. */
export function createMessagesService({
  gateway,
  keys,
  catalog,
  allowedModelsOf,
  takeCountedBytes,
  caller,
}: MessagesServiceDependencies): ServiceImpl<typeof MessagesService> {
  const deps = { gateway, keys, protocol: messagesProtocol };
  const callOf = async (request: MessageRequest, stream: boolean, context: HandlerContext): Promise<ChatCall> => ({
    ...(await caller(context)),
    headers: protocolHeaders(messagesProtocol, (name) => context.requestHeader.get(name)),
    body: toBody(request, stream),
  });
  return {
    async createMessage(request, context) {
      const output = new RpcOutput(context.signal);
      await answerConversation(deps, await callOf(request, false, context), output);
      const answer = output.wholeAnswer;
      // The gateway ends without an error when its caller has left: there is no answer, and no reader.
      if (answer === null) throw new ConnectError("The call was canceled.", Code.Canceled);
      return inContract(CreateMessageResponseSchema, answer);
    },

    async *streamMessage(request, context) {
      const call = await callOf(request, true, context);
      const output = new RpcOutput(context.signal);
      for await (const event of output.eventsOf(answerConversation(deps, call, output))) {
        yield inContract(StreamMessageResponseSchema, event);
      }
    },

    async countTokens(request, context) {
      const { key } = await caller(context);
      soldModel(request.model, await catalog.snapshot(), "chat");
      requireAllowed(allowedModelsOf(context), request.model);
      const body = Buffer.from(JSON.stringify(toJson(CountTokensRequestSchema, request)));
      takeCountedBytes(key.keyId, body.length);
      return { inputTokens: await countMessages(body) };
    },
  };
}

/** Anthropic's JSON of a typed request. A field of the message wins over the same name in `extra`. */
function toBody(request: MessageRequest, stream: boolean): Buffer {
  const { extra, ...named } = toJsonObject(toJson(MessageRequestSchema, request));
  return Buffer.from(JSON.stringify({ ...(isObject(extra) ? extra : {}), ...named, stream }));
}

function inContract<Desc extends DescMessage>(desc: Desc, answer: object): MessageShape<Desc> {
  return fromJson(desc, toJsonObject(answer), { ignoreUnknownFields: true });
}

function toJsonObject(value: JsonValue | object): JsonObject {
  if (!isObject(value)) throw new InternalError();
  return value as JsonObject;
}
