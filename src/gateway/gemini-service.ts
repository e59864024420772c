// GeminiService: translates typed messages into Google's JSON, which its protocol reads, and the answer back. Requests of REST clients
// for answers do not pass here; their bytes go to the protocol unchanged.

import { type DescMessage, fromJson, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  CountContentTokensRequestSchema,
  type GeminiService,
  type GenerateContentRequest,
  GenerateContentRequestSchema,
  GenerateContentResponseSchema,
  StreamGenerateContentResponseSchema,
} from "#gen/saldo/gateway/v1/gemini_service_pb.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { UpstreamBusy } from "../kernel/errors.ts";
import { requireAllowed } from "../keys/key-limits.ts";
import { soldModel } from "./answer/serve.ts";
import type { ChatCall, Gateway } from "./chat.ts";
import { answerConversation, type ConversationDeps } from "./conversation/answer-conversation.ts";
import type { CountWindows } from "./conversation/count-window.ts";
import { countContents } from "./conversation/gemini/count-contents.ts";
import { geminiProtocol } from "./conversation/gemini/gemini-protocol.ts";
import { RpcOutput } from "./conversation/rpc-output.ts";
import { isObject } from "./request/field-rules.ts";

export type GeminiServiceDependencies = {
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
export function createGeminiService({
  gateway,
  keys,
  catalog,
  allowedModelsOf,
  takeCountedBytes,
  caller,
}: GeminiServiceDependencies): ServiceImpl<typeof GeminiService> {
  const depsFor = (model: string, stream: boolean) => ({ gateway, keys, protocol: geminiProtocol({ model, stream }) });
  return {
    async generateContent(request, context) {
      const output = new RpcOutput(context.signal);
      const call = { ...(await caller(context)), body: toBody(request) };
      await answerConversation(depsFor(request.model, false), call, output);
      const answer = output.wholeAnswer;
      // The gateway ends without an error when its caller has left: there is no answer, and no reader.
      if (answer === null) throw new ConnectError("The call was canceled.", Code.Canceled);
      return inContract(GenerateContentResponseSchema, answer);
    },

    async *streamGenerateContent(request, context) {
      const call = { ...(await caller(context)), body: toBody(request) };
      const output = new RpcOutput(context.signal, { hasErrorEvents: false });
      const work = answerConversation(depsFor(request.model, true), call, output);
      for await (const piece of output.eventsOf(work)) {
        if ("error" in piece) throw brokenOff(piece.error);
        yield inContract(StreamGenerateContentResponseSchema, piece);
      }
    },

    async countContentTokens(request, context) {
      const { key } = await caller(context);
      soldModel(request.model, await catalog.snapshot(), "chat");
      requireAllowed(allowedModelsOf(context), request.model);
      const body = Buffer.from(JSON.stringify(toJson(CountContentTokensRequestSchema, request)));
      takeCountedBytes(key.keyId, body.length);
      return { totalTokens: await countContents(body, request.model) };
    },
  };
}

/** Google's JSON of a typed request. A field of the message wins over the same name in `extra`. */
function toBody(request: GenerateContentRequest): Buffer {
  const { extra, ...named } = toJson(GenerateContentRequestSchema, request) as { readonly [key: string]: JsonValue };
  return Buffer.from(JSON.stringify({ ...(isObject(extra) ? extra : {}), ...named }));
}

function inContract<Desc extends DescMessage>(desc: Desc, answer: object): MessageShape<Desc> {
  return fromJson(desc, answer as JsonValue, { ignoreUnknownFields: true });
}

/** The pieces of an RPC have no error. One that the writer ended with is of an answer that cannot be shown to its end. */
function brokenOff(error: unknown): UpstreamBusy {
  const busy = new UpstreamBusy();
  if (isObject(error) && typeof error["message"] === "string") busy.message = error["message"];
  return busy;
}
