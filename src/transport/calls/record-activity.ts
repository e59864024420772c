// The activity log of accounts. A call of a member, an internal service or an operator that changes something in an account is a line in
// it: what was refused is none. Methods that know what was there before write their line in the transaction of the change, by the function that
// is made here, as members' own methods do. The lines of the others are written behind the call.

import { type DescMessage, type DescMethod, getOption, type Message } from "@bufbuild/protobuf";
import { createContextKey, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { token_scope, TokenScope } from "#gen/saldo/options/v1/options_pb.ts";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { RecordChange } from "../../database/record-change.ts";
import type { Activity } from "../../identity/members/activity.ts";
import type { Principal } from "../../identity/principal.ts";
import { rolesOf } from "./authorise.ts";
import { principalOf, requestIdOf } from "./call.ts";
import { type CallLogger, logFault } from "./log.ts";

/** Writes a line of the activity log. */
export type RecordActivity = (line: Activity) => Promise<void>;

/** What a line shows of a request. No secret, no address of a callback, no text of a model. */
const SHOWN = ["name", "amount", "currencyCode", "address", "threshold", "externalId"] as const;
const MODELS = "saldo.gateway.v1.";

const recordedKey = createContextKey(false, { description: "the line of the activity log is written with the change" });

/** Makes the function of a call that writes its line in the transaction of its change. `write` writes a line. */
export function createRecordChangeOf(
  write: (client: Parameters<RecordChange>[0], line: Activity) => Promise<void>,
): (context: HandlerContext) => RecordChange {
  return (context) => async (client, change) => {
    const actor = actorOf(principalOf(context));
    if (actor !== null && change !== null)
      await write(client, { ...actor, action: actionOf(context.method), ...change });
    // A call whose transaction fails throws, and has no line at all.
    context.values.set(recordedKey, true);
  };
}

function actionOf({ parent, name }: DescMethod): string {
  return `${parent.name}/${name}`;
}

/** Makes the interceptor. Absent `record`: nothing is recorded. */
export function recordActivities(record: RecordActivity | undefined, logger: CallLogger): Interceptor {
  return (next) => async (req) => {
    const res = await next(req);
    const call = { values: req.contextValues };
    const actor = actorOf(principalOf(call));
    if (record === undefined || actor === null || req.stream || res.stream || !changesAccount(req.method)) return res;
    if (req.contextValues.get(recordedKey)) return res;
    const action = actionOf(req.method);
    const subject = idIn(req.method.input, req.message) ?? idOfPart(req.method.output, res.message);
    try {
      await record({ ...actor, action, subject, facts: factsOf(req.message) });
    } catch (error) {
      // The change is done, and its answer may hold a secret that is shown once.
      logFault(logger, requestIdOf(call), error);
    }
    return res;
  };
}

/** Whether a method changes something in an account and leaves the line to this file. */
export function changesAccount(method: DescMethod): boolean {
  if (method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) return false;
  if (getOption(method, token_scope) === TokenScope.READ || method.parent.typeName.startsWith(MODELS)) return false;
  const roles = rolesOf(method);
  return method.parent.typeName !== MembersService.typeName && roles.size > 0 && !roles.has("person");
}

function actorOf(principal: Principal): Pick<Activity, "accountId" | "personId" | "actor"> | null {
  if (!("accountId" in principal) || principal.accountId === "") return null;
  const { accountId } = principal;
  switch (principal.kind) {
    case "session":
      return { accountId, personId: principal.personId, actor: principal.email };
    case "service":
      return { accountId, personId: null, actor: `service-token ${principal.tokenId}` };
    case "operator":
      // Which operator it was is a line of the operators' log.
      return { accountId, personId: null, actor: "operator" };
    case "api_key":
      break;
  }
  return null;
}

type Fields = Readonly<Record<string, unknown>>;

/** The first id in a request. */
function idIn({ fields }: DescMessage, message: Message): string | null {
  const values = message as unknown as Fields;
  const ids = fields.filter(({ localName }) => /^id$|Id$/.test(localName) && localName !== "externalId");
  return ids.map(({ localName }) => values[localName]).find(isText) ?? null;
}

/** The id of the first part of an answer, which is what was made. */
function idOfPart({ fields }: DescMessage, message: Message): string | null {
  const values = message as unknown as Fields;
  for (const field of fields) {
    const part = values[field.localName];
    if (field.fieldKind === "message" && typeof part === "object" && part !== null && "id" in part && isText(part.id))
      return part.id;
  }
  return null;
}

function factsOf(message: Message): Record<string, string> {
  const values = message as unknown as Fields;
  return Object.fromEntries(SHOWN.flatMap((name) => (isText(values[name]) ? [[name, values[name]] as const] : [])));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
