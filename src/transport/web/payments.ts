// The routes of payment providers and payers outside the contracts: the webhooks, and the sandbox provider's page. The bytes of a
// webhook are passed to billing unread.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { SANDBOX_ACTIONS, type SandboxDesk } from "../../billing/payments/sandbox/sandbox-desk.ts";
import { SANDBOX_PAGE_PATH } from "../../billing/payments/sandbox/sandbox-provider.ts";
import type { TopUps } from "../../billing/top-ups/top-ups.ts";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import type { BodyIntake } from "../http/body-intake.ts";
import type { KnownPaths } from "../rest/allowed-methods.ts";
import { PAGE_HEADERS, renderPaymentPage } from "./sandbox-payment-page.ts";
import { takeBodies } from "./take-bodies.ts";

/** The functions of billing that the routes call. */
export type PaymentPorts = {
  readonly topUps: Pick<TopUps, "takeNotification" | "takesNotificationsOf">;
  /** Null: there is no sandbox provider, nor its page. */
  readonly desk: SandboxDesk | null;
};

export const WEBHOOK_PATH = "/webhooks/payments/:provider";
const PAGE_PATH = `${SANDBOX_PAGE_PATH}/:token`;
/** A notification is two kilobytes. More is refused before it is read to its end, let alone hashed. */
const MAX_NOTIFICATION_BYTES = 64 * 1024;
const MAX_FORM_BYTES = 1024;

type WebhookRequest = FastifyRequest<{ Params: { provider: string } }>;
type PageRequest = FastifyRequest<{ Params: { token: string } }>;

/** Registers the routes in a scope of their own, which takes bodies of any type as bytes. */
export function registerPayments(
  app: FastifyInstance,
  paths: KnownPaths,
  { topUps, desk, intake }: PaymentPorts & { readonly intake: BodyIntake },
): void {
  takeBodies(app, "*", intake);
  app.post(WEBHOOK_PATH, {
    bodyLimit: MAX_NOTIFICATION_BYTES,
    // Checked before the body: a provider that is not configured has no path.
    onRequest: (request, _reply, done) =>
      done(topUps.takesNotificationsOf((request as WebhookRequest).params.provider) ? undefined : noSuchPath()),
    handler: async (request, reply) => {
      const { params, headers } = request as WebhookRequest;
      requireStorable(bytesOf(request));
      await topUps.takeNotification(params.provider, { headers, body: bytesOf(request) });
      return reply.type("application/json; charset=utf-8").send({ received: true });
    },
  });
  paths.add(WEBHOOK_PATH, ["POST"]);
  if (desk !== null) registerPage(app, paths, desk);
}

function registerPage(app: FastifyInstance, paths: KnownPaths, desk: SandboxDesk): void {
  app.get(PAGE_PATH, async (request, reply) => {
    const payment = await desk.find((request as PageRequest).params.token);
    const seen = { actions: desk.actionsOf(payment), acceptLanguage: request.headers["accept-language"] };
    return reply.headers(PAGE_HEADERS).send(renderPaymentPage(payment, seen));
  });
  app.post(PAGE_PATH, { bodyLimit: MAX_FORM_BYTES }, (request, reply) => act(desk, request as PageRequest, reply));
  paths.add(PAGE_PATH, ["GET", "POST"]);
}

async function act(desk: SandboxDesk, request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const asked = new URLSearchParams(bytesOf(request).toString("utf8")).get("action");
  const action = SANDBOX_ACTIONS.find((each) => each === asked);
  if (action === undefined) {
    const message = `must be one of ${SANDBOX_ACTIONS.join(", ")}`;
    throw new ValidationError([{ field: "action", rule: "sandbox.action", message }]);
  }
  const { token } = request.params;
  await desk.act(token, action);
  // A redirect to the page, so that a reload does not pay again.
  return reply.redirect(`${SANDBOX_PAGE_PATH}/${encodeURIComponent(token)}`, 303);
}

/** No provider sends U+0000, and no table can hold it. */
function requireStorable(body: Buffer): void {
  if (!body.includes(0) && !body.includes("\\u0000")) return;
  throw new ValidationError([{ field: "", rule: "string.nul", message: "The body must not hold U+0000" }]);
}

function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function noSuchPath(): NotFound {
  return new NotFound("There is no such path.");
}
