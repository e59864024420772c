// Runs a unary method in process, behind the same chain as a call over RPC.

import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { createHandlerContext, type ContextValues, type Interceptor, type ServiceImpl } from "@connectrpc/connect";
import { runUnaryCall } from "@connectrpc/connect/protocol";
import { NotFound } from "../../kernel/errors.ts";
import { type MessageReader, setMessageReader } from "../calls/call.ts";

/** The result of an in-process call. */
export type UnaryAnswer = { readonly message: Message; readonly header: Headers };

/**
 * Calls one method. It takes the message, whose body is received once the caller is known, and returns the answer with the headers
 * that the chain and the service have set. Errors: ConnectError with a DomainError as its cause.
 */
export type UnaryCaller = (call: {
  readonly readMessage: MessageReader;
  readonly values: ContextValues;
  readonly url: string;
  readonly signal: AbortSignal;
}) => Promise<UnaryAnswer>;

/** Binds a method to its implementation. Without one a caller who may call it gets Unimplemented. */
export function createUnaryCaller(
  method: DescMethodUnary,
  implementation: Partial<ServiceImpl<DescService>>,
  interceptors: Interceptor[],
): UnaryCaller {
  const run = implementation[method.localName];
  return async ({ readMessage, values, url, signal }) => {
    setMessageReader({ values }, readMessage);
    const response = await runUnaryCall({
      interceptors,
      signal,
      req: {
        stream: false,
        service: method.parent,
        method,
        requestMethod: "POST",
        url,
        header: new Headers(),
        contextValues: values,
        message: create(method.input),
      },
      next: async (req) => {
        if (typeof run !== "function") throw new NotFound("This method is not available yet.");
        const context = createHandlerContext({
          service: method.parent,
          method,
          protocolName: "rest",
          requestMethod: req.requestMethod,
          url,
          requestSignal: req.signal,
          requestHeader: req.header,
          contextValues: req.contextValues,
        });
        const output: MessageInitShape<DescMessage> = await Reflect.apply(run, implementation, [req.message, context]);
        return {
          stream: false,
          service: method.parent,
          method,
          header: context.responseHeader,
          trailer: context.responseTrailer,
          message: create(method.output, output),
        };
      },
    });
    return { message: response.message, header: response.header };
  };
}
