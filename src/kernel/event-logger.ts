// What code writes to the log with. Every line has the id of its event, which alerts are written on: an id never changes its
// meaning. The message beside it is for readers and may change.

/** Such as `ledger.audit.violation`: the subject, a part of it, and what happened. */
export type EventId = `${string}.${string}`;

/** The facts of a line: the id of the event, and what is known of this one. */
export type LoggedFacts = { readonly event: EventId } & Readonly<Record<string, unknown>>;

type Write = (facts: LoggedFacts, message: string) => void;

/** The log, by level. A pino logger is one. */
export type EventLogger = Readonly<Record<"info" | "warn" | "error" | "fatal", Write>>;
