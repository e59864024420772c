// Paths that end in a colon and a word, as Google's do. One path of Fastify's router has several such words, each with a route of its
// own: what is in front of the colon may have slashes, and only the end of a path can be a variable that takes them.

import type { FastifyInstance } from "fastify";
import { actionOf, type HttpRoute } from "./http-rules.ts";

const NAME = "action";

/** Lets routes be chosen by the action of a path. Call it before they are registered. */
export function addActions(app: FastifyInstance): void {
  app.addConstraintStrategy({
    name: NAME,
    storage() {
      const handlers = new Map<string, unknown>();
      return {
        get: (action: string) => handlers.get(action) ?? null,
        set: (action: string, handler: unknown) => void handlers.set(action, handler),
      };
    },
    deriveConstraint: ({ url = "" }: { readonly url?: string }) => actionOf(url) ?? undefined,
  } as Parameters<FastifyInstance["addConstraintStrategy"]>[0]);
}

/** The options of a route that has an action. */
export function actionConstraint({ action }: HttpRoute): { readonly constraints?: Readonly<Record<string, string>> } {
  return action === null ? {} : { constraints: { [NAME]: action } };
}
