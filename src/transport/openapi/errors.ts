// The error answers of an operation: the codes that its method names, and those of every operation of its kind.

import { getOption } from "@bufbuild/protobuf";
import { errors } from "#gen/saldo/options/v1/options_pb.ts";
import type { ErrorCode } from "../../kernel/errors.ts";
import { httpStatus } from "../../kernel/http-status.ts";
import type { ErrorFormat } from "../rest/error-answer.ts";
import type { HttpRoute } from "../rest/http-rules.ts";
import { protocolFormatAt } from "../rest/protocols/protocol-paths.ts";
import { exampleNames } from "./error-examples.ts";
import type { errorSchemas } from "./error-schemas.ts";

const codes = Object.keys(httpStatus) as ErrorCode[];

/** The error answers of a route, by status. */
export function errorResponses(route: HttpRoute): Record<string, object> {
  const responses: Record<string, object> = {};
  for (const [status, group] of Map.groupBy(codesOf(route), (code) => httpStatus[code])) {
    responses[status] = {
      description: group.map((code) => `\`${code}\``).join(", "),
      headers: {
        "x-request-id": { $ref: "#/components/headers/RequestId" },
        ...(status === 409 || status === 429 || status === 503
          ? { "retry-after": { $ref: "#/components/headers/RetryAfter" } }
          : {}),
      },
      content: { "application/json": { schema: schemaOf(route), examples: examplesOf(route, group) } },
    };
  }
  return responses;
}

const ref = (name: keyof typeof errorSchemas) => ({ $ref: `#/components/schemas/${name}` });

const schemas = {
  plain: "Error",
  openai: "OpenAiError",
  envelope: "MerchantError",
  messages: "MessagesError",
  responses: "ResponsesError",
  gemini: "GeminiError",
} as const satisfies Record<ErrorFormat, keyof typeof errorSchemas>;

/** The shapes of a route's errors. */
function formatsOf({ inEnvelope, template }: HttpRoute): readonly ErrorFormat[] {
  if (inEnvelope) return ["envelope"];
  const format = protocolFormatAt(template);
  return format === null ? ["plain", "openai"] : [format];
}

function schemaOf(route: HttpRoute): object {
  const [first, ...others] = formatsOf(route).map((format) => ref(schemas[format]));
  return first !== undefined && others.length === 0 ? first : { anyOf: [first, ...others] };
}

function examplesOf(route: HttpRoute, group: readonly ErrorCode[]): Record<string, object> {
  const names = exampleNames(group, formatsOf(route));
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }]));
}

function codesOf(route: HttpRoute): ErrorCode[] {
  const given = new Set<string>(getOption(route.method, errors));
  // The host of any request can be unclear, which is a validation_error.
  for (const code of ["validation_error", "permission_denied", "rate_limit", "upstream_busy", "internal_error"])
    given.add(code);
  for (const code of route.inEnvelope ? ["invalid_credentials"] : ["invalid_api_key", "network_not_allowed"])
    given.add(code);
  if (route.hasBody)
    for (const code of ["payload_too_large", "unsupported_media_type", "request_timeout"]) given.add(code);
  return codes.filter((code) => given.has(code));
}
