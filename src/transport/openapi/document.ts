// The OpenAPI 3.1 document of the REST API: paths from the HTTP options, texts from the comments, schemas from the messages.

import type { DescService } from "@bufbuild/protobuf";
import { documentedPath, routesOf } from "../rest/http-rules.ts";
import { errorExamples } from "./error-examples.ts";
import { errorSchemas } from "./error-schemas.ts";
import { writeOperation, merchantServers } from "./operations.ts";
import { SchemaBook } from "./schemas.ts";
import { textOf } from "./text.ts";

/** Writes the whole document. The same contracts give the same text. */
export function writeDocument(services: readonly DescService[]): object {
  const book = new SchemaBook();
  const paths: Record<string, Record<string, unknown>> = {};
  const tags: { name: string; description: string }[] = [];
  for (const service of services) {
    const routes = service.methods.flatMap((method) => routesOf(method));
    if (routes.length > 0) tags.push({ name: service.name, description: textOf(service).whole });
    for (const [index, route] of routes.entries()) {
      const isAlias = routes.findIndex((each) => each.method === route.method) < index;
      const item = (paths[documentedPath(route)] ??= merchantServers(route.method));
      item[route.verb.toLowerCase()] = writeOperation(route, isAlias, book);
    }
  }
  const sortedPaths = sortKeys(paths);
  return {
    openapi: "3.1.0",
    info: {
      title: "Saldo",
      version: "1",
      description:
        "A prepaid model gateway in the formats of OpenAI, Anthropic and Google, billed in Rupiah, and merchant crypto transfers. Every answer carries `x-request-id`.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags,
    paths: sortedPaths,
    components: {
      schemas: sortKeys({ ...book.schemas(), ...errorSchemas }),
      examples: sortKeys(usedExamples(sortedPaths)),
      headers: {
        RequestId: { description: "The id of the request, a UUID.", schema: { type: "string", format: "uuid" } },
        RetryAfter: {
          description: "Seconds after which a try makes sense.",
          schema: { type: "integer", minimum: 1, maximum: 60 },
        },
      },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "A gateway key, `gw_…`." },
        basic: {
          type: "http",
          scheme: "basic",
          description: "A merchant pair: the API key as user, the secret as password.",
        },
      },
    },
  };
}

/** The examples of errors that operations refer to. */
function usedExamples(paths: object): Record<string, object> {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(errorExamples()).filter(([name]) => text.includes(`"#/components/examples/${name}"`)),
  );
}

function sortKeys<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
