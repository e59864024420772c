// Traces by OpenTelemetry's SDK. This file is loaded only where they are on: nothing else imports the SDK. Contexts are passed by
// hand, so no call costs more for being traceable, and a call that is not sampled makes nothing.

import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace, TraceFlags, type Tracer } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, ConsoleSpanExporter, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventLogger } from "../../kernel/event-logger.ts";
import type { TraceAttributes, TracedCall, TraceSpan, Tracing } from "../../kernel/tracing.ts";
import { packageVersion } from "../../kernel/version.ts";
import type { TraceSettings } from "../config/traces.ts";

/** Spans that wait to be sent; more are dropped. */
const MAX_QUEUE = 8_192;
const MAX_BATCH = 512;
const SEND_EVERY_MS = 1_000;
const EXPORT_WITHIN_MS = 10_000;
/** How long a stop waits for the last spans. */
const LAST_EXPORT_MS = 2_000;
const FAILURE_LOGGED_EVERY_MS = 60_000;
/** No attribute is a text of a caller's making; this bounds those that an upstream or a catalog names. */
const MAX_TEXT = 200;

export type Traces = Tracing & {
  /** The trace of a running call. Undefined: it has none. */
  readonly traceIdOf: (requestId: string) => string | undefined;
  /** Sends what waits. */
  stop(): Promise<void>;
};

/** Opens the way to the collector. `exporter`: in place of the one that the settings name. */
export function openTraces(
  settings: TraceSettings,
  { logger, exporter = exporterOf(settings) }: { logger: Pick<EventLogger, "warn">; exporter?: SpanExporter },
): Traces {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "saldo",
      "service.version": packageVersion(),
      "process.pid": process.pid,
    }),
    spanLimits: { attributeValueLengthLimit: MAX_TEXT },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: watched(exporter, logger),
        maxQueueSize: MAX_QUEUE,
        maxExportBatchSize: MAX_BATCH,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: EXPORT_WITHIN_MS,
      }),
    ],
  });
  const tracer = provider.getTracer("saldo", packageVersion());
  const running = new Map<string, string>();
  const isChosen = (): boolean => Math.random() < settings.share;
  return {
    receive(call) {
      const asked = call.traceparent ? parseTraceparent(call.traceparent) : null;
      const isTrusted = settings.trusts.has(call.port);
      const isSampled = isTrusted && asked !== null ? (asked.traceFlags & TraceFlags.SAMPLED) !== 0 : isChosen();
      if (!isSampled) return null;
      const span = tracer.startSpan(
        call.method,
        serverOptions(call, isTrusted ? null : asked),
        parentOf(isTrusted, asked),
      );
      running.set(call.requestId, span.spanContext().traceId);
      return new OpenSpan(tracer, span, () => running.delete(call.requestId));
    },
    job(name) {
      if (!isChosen()) return null;
      return new OpenSpan(tracer, tracer.startSpan(`job ${name}`, { attributes: { "saldo.job": name } }, ROOT_CONTEXT));
    },
    traceIdOf: (requestId) => running.get(requestId),
    async stop() {
      // A collector that is away must not hold up the end of the process.
      await Promise.race([provider.shutdown().catch(() => {}), sleep(LAST_EXPORT_MS, undefined, { ref: false })]);
    },
  };
}

function exporterOf({ endpoint, headers }: TraceSettings): SpanExporter {
  if (endpoint === "console") return new ConsoleSpanExporter();
  return new OTLPTraceExporter({ url: endpoint, headers: { ...headers }, timeoutMillis: EXPORT_WITHIN_MS });
}

/** Logs that spans are lost, now and then. */
function watched(exporter: SpanExporter, logger: Pick<EventLogger, "warn">): SpanExporter {
  let loggedAtMs = -Infinity;
  const note = (result: ExportResult): void => {
    if (result.code === ExportResultCode.SUCCESS || performance.now() - loggedAtMs < FAILURE_LOGGED_EVERY_MS) return;
    loggedAtMs = performance.now();
    logger.warn({ event: "traces.export.failed", reason: result.error?.message ?? "unknown" }, "traces are lost");
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        note(result);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

type Asked = { readonly traceId: string; readonly spanId: string; readonly traceFlags: number };

/** W3C's header. Null: it is not one. Its companions, `tracestate` and `baggage`, are not read and go nowhere. */
function parseTraceparent(header: string): Asked | null {
  const [, version, traceId = "", spanId = "", flags = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(header) ?? [];
  if (version !== "00" || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

function parentOf(isTrusted: boolean, asked: Asked | null) {
  return isTrusted && asked !== null ? trace.setSpanContext(ROOT_CONTEXT, { ...asked, isRemote: true }) : ROOT_CONTEXT;
}

/** A caller that is not trusted gets a trace of ours, which names its own by a link. */
function serverOptions({ method, requestId }: TracedCall, linked: Asked | null) {
  const [service = "", name = ""] = method.split("/");
  return {
    kind: SpanKind.SERVER,
    attributes: { "rpc.service": service, "rpc.method": name, "saldo.request_id": requestId },
    links: linked === null ? [] : [{ context: { ...linked, isRemote: true } }],
  };
}

class OpenSpan implements TraceSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #onEnd: (() => void) | undefined;
  #endedAt: number | undefined;

  constructor(tracer: Tracer, span: Span, onEnd?: () => void) {
    this.#tracer = tracer;
    this.#span = span;
    this.#onEnd = onEnd;
  }

  get traceparent(): string {
    const { traceId, spanId } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  begin(name: string, kind: "internal" | "client", attributes: TraceAttributes = {}): TraceSpan {
    const options = { kind: kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes: { ...attributes } };
    return new OpenSpan(this.#tracer, this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, this.#span)));
  }

  set(attributes: TraceAttributes): void {
    this.#span.setAttributes({ ...attributes });
  }

  stop(errorType?: string): void {
    this.#fail(errorType);
    this.#endedAt ??= Date.now();
  }

  end(errorType?: string): void {
    this.#fail(errorType);
    this.#span.end(this.#endedAt);
    this.#onEnd?.();
  }

  #fail(errorType: string | undefined): void {
    if (errorType === undefined) return;
    this.#span.setAttribute("error.type", errorType);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

/** Writes the trace of a call into the lines of the log that name the call. */
export function withTraceIds(logger: EventLogger, traceIdOf: Traces["traceIdOf"]): EventLogger {
  const levels = ["info", "warn", "error", "fatal"] as const;
  const writers = levels.map((level): [(typeof levels)[number], EventLogger["info"]] => [
    level,
    (facts, message) => {
      const { requestId } = facts as { requestId?: unknown };
      const traceId = typeof requestId === "string" ? traceIdOf(requestId) : undefined;
      logger[level](traceId === undefined ? facts : { ...facts, traceId }, message);
    },
  ]);
  return Object.fromEntries(writers) as unknown as EventLogger;
}
