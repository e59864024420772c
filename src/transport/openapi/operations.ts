// One operation of the document: a method at one of its addresses.

import { getOption, type DescField, type DescMethod } from "@bufbuild/protobuf";
import { EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
import { Caller, rest } from "#gen/saldo/options/v1/options_pb.ts";
import { GeminiService } from "#gen/saldo/gateway/v1/gemini_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { MessagesService } from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { StatusService } from "#gen/saldo/status/v1/status_service_pb.ts";
import { ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { isForMerchants, restCallersOf } from "../calls/authorise.ts";
import { ERROR_FORMAT_HEADER } from "../rest/error-answer.ts";
import { answersFile } from "../rest/answer-file.ts";
import type { HttpRoute } from "../rest/http-rules.ts";
import { protocolFormatAt } from "../rest/protocols/protocol-paths.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { errorSchemas } from "./error-schemas.ts";
import { errorResponses } from "./errors.ts";
import { type Example, examples } from "./examples.ts";
import type { Schema, SchemaBook } from "./schemas.ts";
import { textOf } from "./text.ts";

/** A method whose answer may be streamed: the method of its pieces, and how the stream ends. It may be streamed always. */
type Streamed = {
  readonly pieces: string;
  readonly ending: string;
  readonly isAlways?: true;
  /** The schema of an error in the stream. Left out: OpenAI's shape. */
  readonly error?: keyof typeof errorSchemas;
};
const STREAMED: ReadonlyMap<string, Streamed> = new Map([
  [
    fullName(GatewayService.method.createChatCompletion),
    {
      pieces: GatewayService.method.streamChatCompletion.name,
      ending:
        "After the last one of a complete answer comes `data: [DONE]`, which is no JSON. An event with `error` ends an answer that broke off.",
    },
  ],
  [
    fullName(MessagesService.method.createMessage),
    {
      pieces: MessagesService.method.streamMessage.name,
      ending: "Each event is named by its type. The event `error` ends an answer that broke off. There is no `[DONE]`.",
    },
  ],
  [
    fullName(ResponsesService.method.createResponse),
    {
      pieces: ResponsesService.method.streamResponse.name,
      ending: "The event `response.failed` ends an answer that broke off. There is no `[DONE]`.",
    },
  ],
  [
    fullName(GeminiService.method.streamGenerateContent),
    {
      pieces: GeminiService.method.streamGenerateContent.name,
      ending:
        "The last one of a complete answer has `finishReason`. One with `error` ends an answer that broke off. There is no `[DONE]`.",
      isAlways: true,
      error: "GeminiError",
    },
  ],
]);

/** Methods whose answers are billed and never streamed. */
const BILLED_IN_ONE_PIECE: ReadonlySet<string> = new Set(
  [EmbeddingsService.method.createEmbeddings, GeminiService.method.generateContent].map(fullName),
);

function fullName({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}

/** The two bases of a merchant path; nothing for the others. */
export function merchantServers(method: DescMethod): Record<string, unknown> {
  if (!isForMerchants(method)) return {};
  return {
    servers: [
      { url: "/", description: "Production pairs only." },
      { url: "/sandbox", description: "Sandbox pairs only." },
    ],
  };
}

/** Writes an operation; its schemas are added to the book. */
export function writeOperation(route: HttpRoute, isAlias: boolean, book: SchemaBook): object {
  const { method } = route;
  const text = textOf(method);
  const example = examples[method.name];
  invariant(example !== undefined, `${method.name} has an example`);
  const streamed = STREAMED.get(fullName(method));
  const isOther = protocolFormatAt(route.template) !== null;
  const isBilled = streamed !== undefined || BILLED_IN_ONE_PIECE.has(fullName(method));
  return {
    operationId: method.localName + (isAlias ? "Alias" : ""),
    tags: [method.parent.name],
    summary: text.summary,
    ...(text.rest === "" ? {} : { description: text.rest }),
    security: securityOf(method),
    ...optional("parameters", [
      ...parametersOf(route, book, example.parameters),
      ...(streamed?.isAlways === true ? [EVENTS_PARAMETER] : []),
      ...(isBilled ? [IDEMPOTENCY_PARAMETER] : []),
      // Clients of another protocol read its shape alone, and get it without the header.
      ...(route.inEnvelope || isOther ? [] : [ERROR_FORMAT_PARAMETER]),
    ]),
    ...(route.hasBody
      ? {
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: book.request(method.input, { open: streamed !== undefined || isOther }),
                example: example.body,
              },
            },
          },
        }
      : {}),
    responses: {
      "200":
        streamed === undefined
          ? answerOf(route, book, example, isBilled ? billedHeaders : successHeaders)
          : modelAnswer(method, streamed, book, example),
      ...(method === StatusService.method.getStatus ? { "304": UNCHANGED } : {}),
      ...errorResponses(route),
    },
  };
}

const UNCHANGED = {
  description: "Nothing has changed since the answer whose `etag` the request has in `if-none-match`.",
  headers: { "x-request-id": { $ref: "#/components/headers/RequestId" } },
};

const IDEMPOTENCY_PARAMETER = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "The client's name for the request, so that a retry is not billed again. Names are kept for 24 hours for each API key.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const EVENTS_PARAMETER = {
  name: "alt",
  in: "query",
  required: true,
  description: "`sse`: the answer is server-sent events. There is no other form.",
  schema: { const: "sse" },
  example: "sse",
};

const ERROR_FORMAT_PARAMETER = {
  name: ERROR_FORMAT_HEADER,
  in: "header",
  required: false,
  description: "`openai`: errors have the shape of OpenAI's. Any other value: the shape with the code in `error`.",
  schema: { type: "string" },
};

function securityOf(method: DescMethod): object[] {
  const allowed = restCallersOf(method);
  if (allowed.has(Caller.PUBLIC)) return [{}];
  return [
    ...(allowed.has(Caller.API_KEY) || allowed.has(Caller.SERVICE) ? [{ bearer: [] }] : []),
    ...(allowed.has(Caller.MERCHANT) ? [{ basic: [] }] : []),
  ];
}

function parametersOf(route: HttpRoute, book: SchemaBook, example: Example["parameters"]): object[] {
  const inQuery = route.hasBody ? [] : route.method.input.fields.filter((field) => field !== route.pathField);
  const parameter = (field: DescField, place: "path" | "query") => ({
    name: field.jsonName,
    in: place,
    required: place === "path",
    description: textOf(field).whole,
    schema: book.field(field, "request"),
    ...(example?.[field.jsonName] === undefined ? {} : { example: example[field.jsonName] }),
  });
  return [
    ...(route.pathField === null ? [] : [parameter(route.pathField, "path")]),
    ...inQuery.filter((field) => !getOption(field, rest).rpcOnly).map((field) => parameter(field, "query")),
  ];
}

const successHeaders = { "x-request-id": { $ref: "#/components/headers/RequestId" } };

/** Headers of an answer that was billed. */
const billedHeaders = {
  ...successHeaders,
  "x-saldo-cost-idr": {
    description: "What the answer cost, in rupiah, a decimal string. Absent on a stream, whose last usage says it.",
    schema: { type: "string" },
  },
  "x-saldo-replayed": {
    description: "`true` when this is the kept answer of an earlier request with the same `Idempotency-Key`.",
    schema: { type: "string" },
  },
  "x-saldo-answered-request": {
    description: "The id of that earlier request.",
    schema: { type: "string" },
  },
  "x-saldo-demo": { description: "`1` when the demo upstream answered.", schema: { type: "string" } },
};

function answerOf(route: HttpRoute, book: SchemaBook, example: Example, headers: object): object {
  const { output } = route.method;
  const data =
    route.responseField === null ? book.response(output, { open: false }) : book.field(route.responseField, "response");
  const inMeta = output.fields.filter((field) => getOption(field, rest).inMeta);
  const meta = {
    type: "object",
    required: ["message", "statusCode", ...inMeta.map((field) => field.jsonName)],
    properties: {
      message: { type: "string" },
      statusCode: { type: "integer" },
      ...Object.fromEntries(inMeta.map((field) => [field.jsonName, book.field(field, "response")])),
    },
  };
  const schema = route.inEnvelope ? { type: "object", required: ["data", "meta"], properties: { data, meta } } : data;
  if (answersFile(route)) {
    const file = { schema: { type: "string", format: "binary" }, example: example.data };
    const content = Object.fromEntries((example.mediaTypes ?? []).map((mediaType) => [mediaType, file]));
    return { description: textOf(output).whole, headers, content };
  }
  return {
    description: textOf(output).whole,
    headers,
    content: {
      "application/json": {
        schema,
        example: route.inEnvelope
          ? { data: example.data, meta: { message: "OK", statusCode: 200, ...example.meta } }
          : example.data,
      },
    },
  };
}

/** JSON, or events when `stream` is true. Both may hold more than is named here. */
function modelAnswer(method: DescMethod, streamed: Streamed, book: SchemaBook, { data, events }: Example): object {
  const piece = method.parent.methods.find((each) => each.name === streamed.pieces)?.output ?? method.output;
  return {
    description: textOf(method.output).whole,
    headers: billedHeaders,
    content: {
      ...(streamed.isAlways === true
        ? {}
        : { "application/json": { schema: book.relayed(method.output), example: data } }),
      "text/event-stream": { schema: eventOf(book.relayed(piece), streamed), examples: named(events ?? {}) },
    },
  };
}

function named(values: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

/** The data of one event. OpenAPI 3.1 has no schema for a sequence of them. */
function eventOf(piece: Schema, { ending, error = "StreamError" }: Streamed): Schema {
  return {
    description: `The data of each event. ${ending}`,
    anyOf: [piece, { $ref: `#/components/schemas/${error}` }],
  };
}

function optional(key: string, list: readonly object[]): object {
  return list.length === 0 ? {} : { [key]: list };
}
