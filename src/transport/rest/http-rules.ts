// The REST routes, from the google.api.http options of the contracts. The server registers them and the OpenAPI plugin documents
// them, so that the two cannot differ.

import { getOption, hasOption, type DescField, type DescMethod } from "@bufbuild/protobuf";
import { http } from "#gen/google/api/annotations_pb.ts";
import type { HttpRule } from "#gen/google/api/http_pb.ts";
import { envelope, Envelope } from "#gen/saldo/options/v1/options_pb.ts";
import { invariant } from "../../kernel/invariant.ts";

/** The HTTP method of a route. */
export type HttpVerb = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One REST route: its path, and the places of the fields of the message. */
export type HttpRoute = {
  readonly method: DescMethod;
  readonly verb: HttpVerb;
  /** Literal segments and at most one variable, such as `/v1/models/{id=**}`. */
  readonly template: string;
  /** The word behind the last colon of the path, such as `countTokens`; null where the path has none. */
  readonly action: string | null;
  /** The field that the variable fills, or null without one. */
  readonly pathField: DescField | null;
  /** Whether the variable takes the rest of the path, slashes included. */
  readonly takesRest: boolean;
  /** Whether the body is the message; otherwise the query string fills the fields. */
  readonly hasBody: boolean;
  /** The field that is the answer, or null for the whole message. */
  readonly responseField: DescField | null;
  /** Whether answers and errors have the shape `{data, meta}`. */
  readonly inEnvelope: boolean;
};

const VARIABLE = /\{([a-z_0-9]+)(=\*\*)?\}/;
const ACTION = /:([A-Za-z]+)$/;

/** The routes of a method, its additional bindings included; none for a method without an HTTP option. */
export function routesOf(method: DescMethod): HttpRoute[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((binding) => toRoute(method, binding));
}

function toRoute(method: DescMethod, rule: HttpRule): HttpRoute {
  const { verb, template } = patternOf(rule);
  const variable = VARIABLE.exec(template);
  invariant(rule.body === "*" || rule.body === "", "an HTTP rule takes the whole message as its body, or none");
  const action = ACTION.exec(template);
  const path = template.replace(ACTION, "");
  invariant(variable === null || path.endsWith(variable[0]) || variable[2] === undefined, "`**` ends its path");
  return {
    method,
    verb,
    template,
    action: action?.[1] ?? null,
    pathField: variable?.[1] === undefined ? null : fieldOf(method.input.fields, variable[1]),
    takesRest: variable?.[2] !== undefined,
    hasBody: rule.body === "*",
    responseField: rule.responseBody === "" ? null : fieldOf(method.output.fields, rule.responseBody),
    inEnvelope: getOption(method.parent, envelope) === Envelope.DATA_META,
  };
}

const verbs = { get: "GET", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" } as const;

function patternOf({ pattern }: HttpRule): { verb: HttpVerb; template: string } {
  invariant(pattern.case !== undefined && pattern.case !== "custom", "an HTTP rule has one of the usual verbs");
  return { verb: verbs[pattern.case], template: pattern.value };
}

function fieldOf(fields: readonly DescField[], name: string): DescField {
  const field = fields.find((each) => each.name === name);
  invariant(field !== undefined, `an HTTP rule names the field ${name}, which its message has`);
  return field;
}

/** The template as the documentation writes it: `/v1/models/{id}`. */
export function documentedPath(route: HttpRoute): string {
  return route.template.replace(VARIABLE, (_, name: string) => `{${route.pathField?.jsonName ?? name}}`);
}

/** The template as Fastify's router writes it: `/v1/models/*`, `/v1/merchant-transfers/:id`. It has no actions. */
export function routerPath(route: HttpRoute): string {
  return route.template
    .replace(ACTION, "")
    .replace(VARIABLE, (_, name: string) => (route.takesRest ? "*" : `:${name}`));
}

/** The action of a request; null where its path has none. A part of the path before it may have colons too. */
export function actionOf(url: string): string | null {
  const [path = ""] = url.split("?", 1);
  return ACTION.exec(path)?.[1] ?? null;
}
