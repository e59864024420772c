// The error answers of an operation, from the codes its method names and those every operation of its kind can give.

import { getOption } from "@bufbuild/protobuf";
import { errors } from "#gen/saldo/options/v1/options_pb.ts";
import type { ErrorCode } from "../../kernel/errors.ts";
import { httpStatus } from "../rest/error-answer.ts";
import type { HttpRoute } from "../rest/http-rules.ts";

const field = {
  type: "object",
  description: "One field that was wrong.",
  required: ["field", "rule", "message"],
  properties: {
    field: { type: "string", description: "Where it is, such as `messages[0].role`. Empty: the body as a whole." },
    rule: {
      type: "string",
      description:
        "The rule it breaks, such as `required`. A program may compare it. `too_complex`: the body has more than 200 000 brackets, commas and colons outside of strings.",
    },
    message: { type: "string", description: "What is wrong, for a person." },
  },
};

const facts = {
  details: {
    type: "array",
    items: { $ref: "#/components/schemas/FieldProblem" },
    description: "The fields that were wrong. Only with `validation_error`.",
  },
  requestId: {
    type: "string",
    format: "uuid",
    description: "The id to name when asking for help. Only with `internal_error`.",
  },
};

/** The schemas of error bodies. */
export const errorSchemas = {
  FieldProblem: field,
  Error: {
    type: "object",
    description:
      "What went wrong. With the request header `x-saldo-error-format: openai` it has OpenAI's nested shape.",
    required: ["error", "message"],
    properties: {
      error: { type: "string", description: "The code: what a program acts on." },
      code: {
        type: "string",
        enum: ["context_length_exceeded", "content_policy_violation"],
        description:
          "What is wrong with the request, where a program can act on it. Only with `validation_error`: `context_length_exceeded` when the input, or the input with the bound on the output, is longer than the model's context window; `content_policy_violation` when the model's provider refuses the content. In OpenAI's shape it is the `code`.",
      },
      message: { type: "string", description: "What went wrong, for a person." },
      retry_after: {
        type: "integer",
        minimum: 1,
        maximum: 60,
        description:
          "Seconds after which a try makes sense. Only with `rate_limit`, `upstream_busy` and `already_running`.",
      },
      request_id: {
        type: "string",
        description: "The request that was answered under the same `Idempotency-Key`. Only with `already_answered`.",
      },
      cost_idr: {
        type: "string",
        description: "What that request was charged, in rupiah, a decimal string. Only with `already_answered`.",
      },
      status: {
        type: "integer",
        description: "The HTTP status of that request's answer. Only with `already_answered`.",
      },
      owed_idr: {
        type: "string",
        description:
          "What the account owes for payments that were reversed, in rupiah, a decimal string; the next top-up pays it first. Only with `insufficient_balance`, where something is owed.",
      },
      ...facts,
    },
  },
  MerchantError: {
    type: "object",
    description: "What went wrong.",
    required: ["meta"],
    properties: {
      meta: {
        type: "object",
        required: ["message", "statusCode", "error"],
        properties: {
          message: { type: "string", description: "What went wrong, for a person." },
          statusCode: { type: "integer", description: "The HTTP status." },
          error: { type: "string", description: "The code: what a program acts on." },
          ...facts,
        },
      },
    },
  },
} as const;

const codes = Object.keys(httpStatus) as ErrorCode[];

/** The error answers of a route, by status. */
export function errorResponses(route: HttpRoute): Record<string, object> {
  const responses: Record<string, object> = {};
  for (const [status, group] of Map.groupBy(codesOf(route), (code) => httpStatus[code])) {
    const schema = { $ref: `#/components/schemas/${route.inEnvelope ? "MerchantError" : "Error"}` };
    responses[status] = {
      description: group.map((code) => `\`${code}\``).join(", "),
      headers: {
        "x-request-id": { $ref: "#/components/headers/RequestId" },
        ...(status === 409 || status === 429 || status === 503
          ? { "retry-after": { $ref: "#/components/headers/RetryAfter" } }
          : {}),
      },
      content: { "application/json": { schema } },
    };
  }
  return responses;
}

function codesOf(route: HttpRoute): ErrorCode[] {
  const given = new Set<string>(getOption(route.method, errors));
  for (const code of ["permission_denied", "rate_limit", "upstream_busy", "internal_error"]) given.add(code);
  given.add(route.inEnvelope ? "invalid_credentials" : "invalid_api_key");
  if (route.hasBody)
    for (const code of ["validation_error", "payload_too_large", "unsupported_media_type", "request_timeout"])
      given.add(code);
  if (route.method.input.fields.length > 0) given.add("validation_error");
  return codes.filter((code) => given.has(code));
}
