// The interceptors of every call, in the order of `createInterceptors`. The transport has set the request id. REST runs the same
// chain in process, so that every rule holds on every transport.

import type { Tracing } from "../../kernel/tracing.ts";
import { traceCalls } from "./trace-calls.ts";
import { watch } from "./watch-call.ts";
import type { HandlerContext, Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
import { GeminiService } from "#gen/saldo/gateway/v1/gemini_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { MessagesService } from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { Caller } from "#gen/saldo/options/v1/options_pb.ts";
import { StatusService } from "#gen/saldo/status/v1/status_service_pb.ts";
import type { Principal } from "../../identity/principal.ts";
import type { RecordSecurityEvent } from "../../identity/security-log.ts";
import type { TakeCallerSlot } from "../../keys/caller-windows.ts";
import { ServiceBusy } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Keys } from "../../keys/keys.ts";
import { authenticate, type Verifiers } from "./authenticate.ts";
import { authorise, callersOf, restCallersOf, tokenScopeOf } from "./authorise.ts";
import {
  credentialsOf,
  environmentOf,
  isRestCall,
  messageReaderOf,
  type MessageReader,
  principalOf,
  receivedAtMsOf,
  requestIdOf,
  setPrincipal,
} from "./call.ts";
import { addressOf } from "./client-address.ts";
import { toConnectError } from "./errors.ts";
import { limitCallers } from "./limit-callers.ts";
import { logCall, logFault, type CallLogger } from "./log.ts";
import { writeIdsPlainly } from "./normalize-ids.ts";
import { rateHeaders } from "./rate-headers.ts";
import { recordActivities, type RecordActivity } from "./record-activity.ts";
import { createBodyRecheck, isSlowBody, type RecheckBody } from "./recheck-bodies.ts";
import { recheckCallers } from "./recheck-callers.ts";
import { validateMessage } from "./validate.ts";

/** The functions of other rooms that the chain calls. */
export type CallPorts = Omit<Verifiers, "verifyKey"> & {
  readonly keys: Pick<Keys, "verify" | "known" | "takeSlot" | "refuseWhileLimited">;
  /** Counts a call of a person, merchant pair or service token against its window. */
  readonly takeCallerSlot: TakeCallerSlot;
  /** Counts a count of tokens against the window of its key. Errors: RateLimited, TooManyRequests. */
  readonly takeCountSlot: (keyId: string) => void;
  readonly logger: CallLogger;
  /** Traces calls. Absent: there are no traces. */
  readonly tracing?: Tracing;
  /** Whether anything may be answered now. Absent: always. */
  readonly mayServe?: () => boolean;
  /** Records an operator's command on another account before it runs. */
  readonly recordCall: (call: CallOnAccount) => Promise<void>;
  /** Records what was changed in an account, for its members. Absent: nothing is recorded. */
  readonly recordActivity?: RecordActivity;
  /** Records what operators read. Absent: nothing is recorded. */
  readonly recordSecurityEvent?: RecordSecurityEvent;
  /** How many of our proxies are before the HTTP port. Absent: none. */
  readonly trustedProxies?: number;
};

/** A call of an operator or a service that may change an account which it does not own. */
type CallOnAccount = {
  /** The operator's e-mail address; of a service `service-token` and the token's id. */
  readonly operator: string;
  /** Such as `KeysService/RevokeKey`. An empty account: the call named none, and fails. */
  readonly method: string;
  readonly accountId: string;
  readonly requestId: string;
};

type Request = UnaryRequest | StreamRequest;

/** The chain of our own services, outermost first. */
export function createInterceptors(ports: CallPorts): Interceptor[] {
  const verifiers = verifiersOf(ports);
  const authenticated = async (req: Request): Promise<Principal> => {
    const call = { values: req.contextValues };
    const wanted = { environment: environmentOf(call), callers: admittedCallers(req) };
    // No credentials matter: such a method costs no look-up, and answers while the database is away.
    if (wanted.callers.size === 1 && wanted.callers.has(Caller.PUBLIC)) return { kind: "public" };
    return authenticate(verifiers, credentialsOf(call), wanted);
  };
  const authenticateCall: Interceptor = (next) => async (req) => {
    setPrincipal({ values: req.contextValues }, await authenticated(req));
    return next(req);
  };
  const recheckBody = createBodyRecheck(authenticated, admittedCallers);
  return [
    ...traceCalls(ports.tracing),
    ...createOpenInterceptors(ports),
    refuseUnlessServing(ports),
    authenticateCall,
    recheckCallers(authenticated),
    authoriseCall,
    refuseLimited(ports),
    limitCallers(ports.takeCallerSlot),
    validateCall(recheckBody),
    recordCallsOnAccounts(ports),
    recordReads(ports),
    recordActivities(ports.recordActivity, ports.logger),
    limitRate(ports.keys),
  ];
}

/** The ports in the form that authentication takes. */
export function verifiersOf(ports: CallPorts): Verifiers {
  return { ...ports, verifyKey: (secret) => ports.keys.verify(secret) };
}

/** The chain of the public services: gRPC health and reflection. */
export function createOpenInterceptors(ports: Pick<CallPorts, "logger">): Interceptor[] {
  return [logCalls(ports.logger), translateErrors(ports.logger)];
}

function calledBy(call: Pick<HandlerContext, "values">) {
  return { requestId: requestIdOf(call), receivedAtMs: receivedAtMsOf(call), principal: principalOf(call) };
}

function refuseUnlessServing({ mayServe = () => true }: Pick<CallPorts, "mayServe">): Interceptor {
  // The public status is what explains it.
  return (next) => (req) =>
    mayServe() || req.service.typeName === StatusService.typeName ? next(req) : Promise.reject(new ServiceBusy());
}

function logCalls(logger: CallLogger): Interceptor {
  return (next) => async (req) => {
    const method = `${req.service.typeName}/${req.method.name}`;
    const call = { values: req.contextValues };
    const log = (error?: unknown) => logCall(logger, { method, ...calledBy(call), error });
    return watch(next, req, { ended: () => log(), failed: (error) => (log(error), error) });
  };
}

function translateErrors(logger: CallLogger): Interceptor {
  return (next) => async (req) => {
    const requestId = requestIdOf({ values: req.contextValues });
    const translate = (thrown: unknown) => {
      logFault(logger, requestId, thrown);
      return toConnectError(thrown, requestId);
    };
    return watch((request) => orAborted(next(request), request.signal), req, { ended: () => {}, failed: translate });
  };
}

/** The kinds of caller that a method takes where it was called. */
function admittedCallers({ method, contextValues }: Request) {
  return isRestCall({ values: contextValues }) ? restCallersOf(method) : callersOf(method);
}

const authoriseCall: Interceptor = (next) => async (req) => {
  authorise(req.method, principalOf({ values: req.contextValues }), admittedCallers(req));
  return next(req);
};

/** Reads the message, which no protocol reads before the caller is known, and validates it by its contract. */
function validateCall(recheck: RecheckBody): Interceptor {
  return (next) => async (req) => {
    const read = messageReaderOf({ values: req.contextValues });
    invariant(read !== null, "a call brings the reader of its message");
    if (req.stream) return next({ ...req, message: admitted(req, read, recheck) });
    const message = await readBody(req, read, recheck);
    return next({ ...req, message });
  };
}

/** The one message of a request whose answer is a stream. */
async function* admitted(req: StreamRequest, read: MessageReader, recheck: RecheckBody) {
  // Connect's empty message is taken too: with it Connect refuses wrong headers of its protocol.
  await req.message[Symbol.asyncIterator]().next();
  yield await readBody(req, read, recheck);
}

/** Waits for the body only, not for what a slow database took before: a decision on the caller begins to age behind that. */
async function readBody(req: Request, read: MessageReader, recheck: RecheckBody): Promise<MessageShape<DescMessage>> {
  const since = performance.now();
  const message = await read();
  if (isSlowBody(performance.now() - since)) await recheck(req);
  admitMessage(req.method.input, message);
  return message;
}

/** Throws unless the message keeps the rules of its contract, and writes its ids in the form that later code compares. */
function admitMessage<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): void {
  validateMessage(desc, message);
  writeIdsPlainly(desc, message);
}

/** Methods that read although their contract does not mark it: the contract of a served method cannot change. */
const FILES: ReadonlySet<DescMethod> = new Set([
  BillingService.method.exportUsage,
  BillingService.method.exportLedger,
  BillingService.method.exportStatement,
]);

function isRead(method: DescMethod): boolean {
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS || FILES.has(method);
}

/**
 * A call of the owner is no entry in the operators' audit log. For a call of an operator or a service on another account the entry
 * is written here, before the call. Methods for operators alone write a better one, in the transaction of the command.
 */
function recordCallsOnAccounts({ recordCall }: Pick<CallPorts, "recordCall">): Interceptor {
  return (next) => async (req) => {
    const call = { values: req.contextValues };
    const principal = principalOf(call);
    const caller = foreignCallerOf(principal, req.method);
    if (caller !== null) {
      const service = req.service.typeName.split(".").at(-1) ?? "";
      await recordCall({ ...caller, method: `${service}/${req.method.name}`, requestId: requestIdOf(call) });
    }
    return next(req);
  };
}

/** A key whose window is known to be full is refused before its message is read. Counts need no slot. */
function refuseLimited({ keys, takeCountSlot }: Pick<CallPorts, "keys" | "takeCountSlot">): Interceptor {
  return (next) => async (req) => {
    const principal = principalOf({ values: req.contextValues });
    if (principal.kind !== "api_key") return next(req);
    // Before the body is read: reading costs most of a count.
    if (COUNTS.includes(req.method)) takeCountSlot(principal.keyId);
    else keys.refuseWhileLimited(principal);
    return next(req);
  };
}

/** A read of an operator is an entry in the security log; a change is one in the operators' audit log. */
function recordReads({
  recordSecurityEvent,
  trustedProxies = 0,
}: Pick<CallPorts, "recordSecurityEvent" | "trustedProxies">): Interceptor {
  return (next) => async (req) => {
    const call = { values: req.contextValues };
    const principal = principalOf(call);
    if (principal.kind === "operator" && isRead(req.method) && recordSecurityEvent !== undefined) {
      const { personId, accountId } = principal;
      const detail = `${req.service.typeName.split(".").at(-1) ?? ""}/${req.method.name}`;
      const from = credentialsOf(call).source;
      const address = from === null ? null : addressOf(from, trustedProxies);
      const event = { kind: "operator_read", outcome: "succeeded", personId, subject: accountId } as const;
      recordSecurityEvent({ ...event, detail, address });
    }
    return next(req);
  };
}

/** The caller that changes an account without owning it. Null: there is none. */
function foreignCallerOf(
  principal: Principal,
  method: DescMethod,
): Pick<CallOnAccount, "operator" | "accountId"> | null {
  if (principal.kind === "operator" && !isRead(method) && callersOf(method).size > 1) {
    return { operator: principal.email, accountId: principal.accountId };
  }
  if (principal.kind === "service" && tokenScopeOf(method) !== "read") {
    return { operator: `service-token ${principal.tokenId}`, accountId: principal.accountId };
  }
  return null;
}

/** Counts cost nothing and ask no database: a window in memory bounds them. */
const COUNTS: readonly DescMethod[] = [
  MessagesService.method.countTokens,
  ResponsesService.method.countInputTokens,
  GeminiService.method.countContentTokens,
];

/** Methods that take no slot here: answers take it in their admission, in one statement with the hold; counts need none. */
const WITHOUT_SLOT: ReadonlySet<DescMethod> = new Set<DescMethod>([
  ...COUNTS,
  GatewayService.method.createChatCompletion,
  EmbeddingsService.method.createEmbeddings,
  MessagesService.method.createMessage,
  ResponsesService.method.createResponse,
  GeminiService.method.generateContent,
]);

/** A key's window covers its reads too. */
function limitRate(keys: CallPorts["keys"]): Interceptor {
  return (next) => async (req) => {
    const principal = principalOf({ values: req.contextValues });
    if (req.stream || principal.kind !== "api_key" || WITHOUT_SLOT.has(req.method)) {
      return next(req);
    }
    // A read that fails takes no slot, so its slot is taken afterwards. A change needs its slot first.
    const early = isRead(req.method) ? null : await keys.takeSlot(principal);
    const res = await next(req);
    const rate = early ?? (await keys.takeSlot(principal));
    for (const [name, value] of Object.entries(rateHeaders(rate))) res.header.set(name, value);
    return res;
  };
}

/** The result, or the reason of the abort if that comes first: a deadline is answered even by a method that ignores it. */
async function orAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([result, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
