// What every call passes through, in this order: log, errors, authenticate, authorise, validate, rate. The request id was
// given at the door. REST runs the same chain in process, so that no rule holds on one face only.

import type {
  HandlerContext,
  Interceptor,
  StreamRequest,
  StreamResponse,
  UnaryRequest,
  UnaryResponse,
} from "@connectrpc/connect";
import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { Keys } from "../keys/keys.ts";
import { authenticate, type Verifiers } from "./authenticate.ts";
import { authorise, callersOf } from "./authorise.ts";
import {
  credentialsOf,
  environmentOf,
  messageReaderOf,
  principalOf,
  receivedAtMsOf,
  requestIdOf,
  setPrincipal,
} from "./call.ts";
import { toConnectError } from "./errors.ts";
import { logCall, logFault, type CallLogger } from "./log.ts";
import { writeIdsPlainly } from "./plain-ids.ts";
import { rateHeaders } from "./rate-headers.ts";
import { validateMessage } from "./validate.ts";

/** What the chain needs from the rooms behind it. */
export type CallPorts = Omit<Verifiers, "verifyKey"> & {
  readonly keys: Pick<Keys, "verify" | "takeSlot" | "refuseWhileLimited">;
  readonly logger: CallLogger;
  /** Writes down what an operator asks for on somebody's account, before it is done. */
  readonly noteOrder: (order: OrderOnAccount) => Promise<void>;
};

/** A call that may change something of an account, by an operator who does not own it. */
type OrderOnAccount = {
  readonly operator: string;
  /** The method, such as `KeysService/RevokeKey`. */
  readonly method: string;
  readonly accountId: string;
  readonly requestId: string;
};

type Request = UnaryRequest | StreamRequest;
type Response = UnaryResponse | StreamResponse;

/** The chain of a service of ours, outermost first. */
export function createInterceptors(ports: CallPorts): Interceptor[] {
  const verifiers = verifiersOf(ports);
  const authenticateCall: Interceptor = (next) => async (req) => {
    const call = { values: req.contextValues };
    const wanted = { environment: environmentOf(call), callers: callersOf(req.method) };
    setPrincipal(call, await authenticate(verifiers, credentialsOf(call), wanted));
    return next(req);
  };
  return [
    ...createOpenInterceptors(ports),
    authenticateCall,
    authoriseCall,
    validateCall,
    noteOrders(ports),
    limitRate(ports.keys),
  ];
}

/** The ports as authentication knows them. */
export function verifiersOf(ports: CallPorts): Verifiers {
  return { ...ports, verifyKey: (secret) => ports.keys.verify(secret) };
}

/** The chain of the services anybody may call: gRPC health and reflection. */
export function createOpenInterceptors(ports: Pick<CallPorts, "logger">): Interceptor[] {
  return [logCalls(ports.logger), translateErrors(ports.logger)];
}

function calledBy(call: Pick<HandlerContext, "values">) {
  return { requestId: requestIdOf(call), receivedAtMs: receivedAtMsOf(call), principal: principalOf(call) };
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

const authoriseCall: Interceptor = (next) => async (req) => {
  authorise(req.method, principalOf({ values: req.contextValues }));
  return next(req);
};

const validateCall: Interceptor = (next) => async (req) => {
  if (!req.stream) {
    const read = messageReaderOf({ values: req.contextValues });
    const message = read === null ? req.message : read();
    admitMessage(req.method.input, message);
    return next({ ...req, message });
  }
  return next({ ...req, message: validated(req) });
};

async function* validated(req: StreamRequest) {
  for await (const message of req.message) {
    admitMessage(req.method.input, message);
    yield message;
  }
}

/** Stops unless the message keeps the rules of its contract, and writes its ids as everything behind compares them. */
function admitMessage<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): void {
  validateMessage(desc, message);
  writeIdsPlainly(desc, message);
}

/** Files are read, though their contract does not say so: that of a method which is served cannot change. */
const FILES: ReadonlySet<DescMethod> = new Set([BillingService.method.exportUsage, BillingService.method.exportLedger]);

function isRead(method: DescMethod): boolean {
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS || FILES.has(method);
}

/**
 * What owners do themselves leaves no line of an operator's. Where an operator does it for them, the line is written here, before
 * the call; methods for operators alone write a better one, in the transaction of the deed.
 */
function noteOrders({ noteOrder }: Pick<CallPorts, "noteOrder">): Interceptor {
  return (next) => async (req) => {
    const call = { values: req.contextValues };
    const principal = principalOf(call);
    if (principal.kind === "operator" && !isRead(req.method) && callersOf(req.method).size > 1) {
      const { email: operator, accountId } = principal;
      const service = req.service.typeName.split(".").at(-1) ?? "";
      await noteOrder({ operator, accountId, method: `${service}/${req.method.name}`, requestId: requestIdOf(call) });
    }
    return next(req);
  };
}

/** A key's window covers its reads too. Chat takes its slot in its own admission, in one statement with the hold. */
function limitRate(keys: CallPorts["keys"]): Interceptor {
  return (next) => async (req) => {
    const principal = principalOf({ values: req.contextValues });
    if (req.stream || principal.kind !== "api_key" || req.method === GatewayService.method.createChatCompletion) {
      return next(req);
    }
    keys.refuseWhileLimited(principal);
    // A read that fails takes no slot, so its slot is taken afterwards. What changes something needs its slot first.
    const early = isRead(req.method) ? null : await keys.takeSlot(principal);
    const res = await next(req);
    const rate = early ?? (await keys.takeSlot(principal));
    for (const [name, value] of Object.entries(rateHeaders(rate))) res.header.set(name, value);
    return res;
  };
}

type Watcher = {
  ended(): void;
  /** Gives back what is thrown on instead. */
  failed(thrown: unknown): unknown;
};

/** Runs a call and tells how it ended; a stream ends with its last message, not with its first. */
async function watch(next: (req: Request) => Promise<Response>, req: Request, watcher: Watcher): Promise<Response> {
  try {
    const res = await next(req);
    if (res.stream) return { ...res, message: watchStream(res.message, watcher) };
    watcher.ended();
    return res;
  } catch (thrown) {
    throw watcher.failed(thrown);
  }
}

async function* watchStream<T>(messages: AsyncIterable<T>, watcher: Watcher): AsyncGenerator<T> {
  let told = false;
  try {
    yield* messages;
  } catch (thrown) {
    told = true;
    throw watcher.failed(thrown);
  } finally {
    // Also reached when the client leaves between two messages.
    if (!told) watcher.ended();
  }
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
