import type { GatewayEvent } from "./exchange.ts";

/** How many causes of causes are logged. */
const MAX_CAUSES = 5;
const MAX_TEXT_CHARACTERS = 4_000;
/** A longer text is cut before it is looked at. What is cut off cannot come into what is shown: that is half of it. */
const MAX_READ_CHARACTERS = 2 * MAX_TEXT_CHARACTERS;

/** An event for the log: the cause as `err`, in plain values, without credentials. */
export function loggableEvent(event: GatewayEvent): Record<string, unknown> {
  const { kind, requestId } = event;
  if ("cause" in event) return { kind, requestId, err: loggable(event.cause, MAX_CAUSES) };
  if (!("failure" in event)) return { ...event };
  const { failure, upstream } = event;
  const facts = { kind, requestId, upstream, failure: failure.kind, reason: scrubSecrets(failure.reason) };
  return failure.cause === undefined ? facts : { ...facts, err: loggable(failure.cause, MAX_CAUSES) };
}

/** A text without keys, tokens, and the credentials inside addresses. Hosts stay: the operator looks for them. */
export function scrubSecrets(text: string): string {
  const read = text.slice(0, MAX_READ_CHARACTERS);
  return withoutUserinfo(read, text.length > read.length)
    .replace(/([?&](?:key|api_?key|token|access_token|signature)=)[^\s&#]+/gi, "$1[secret]")
    .replace(/\b(Bearer|Basic)\s+[\w+/=.~-]+/gi, "$1 [secret]")
    .replace(/\b(?:sk|pk|gsk|xai|key|org|proj|gw|mk|st)[-_][\w-]{4,}|\bAIza[\w-]{8,}/g, "[secret]")
    .slice(0, MAX_TEXT_CHARACTERS);
}

/** The text without the user and password in front of the `@` of addresses. An address that the cut has parted loses its host. */
function withoutUserinfo(text: string, isCut: boolean): string {
  let shown = "";
  let from = 0;
  // The colon of the next scheme may be the last character of this authority.
  for (let scheme = text.indexOf("://"); scheme >= 0; scheme = text.indexOf("://", Math.max(scheme + 3, from - 1))) {
    const start = scheme + "://".length;
    AUTHORITY.lastIndex = start;
    const authority = AUTHORITY.exec(text)?.[0] ?? "";
    const end = start + authority.length;
    const host = authority.lastIndexOf("@");
    const isParted = isCut && end === text.length;
    shown +=
      text.slice(from, start) +
      (host < 0 && !isParted ? authority : `[secret]${host < 0 ? "" : authority.slice(host)}`);
    from = end;
  }
  return shown + text.slice(from);
}

const AUTHORITY = /[^\s/?#]*/y;

function loggable(cause: unknown, causesLeft: number): unknown {
  if (!(cause instanceof Error)) return { message: scrubSecrets(String(cause)) };
  return {
    type: cause.name,
    message: scrubSecrets(cause.message),
    ...("code" in cause ? { code: scrubSecrets(String(cause.code)) } : {}),
    ...(cause.stack === undefined ? {} : { stack: scrubSecrets(cause.stack) }),
    ...(cause.cause === undefined || causesLeft === 0 ? {} : { cause: loggable(cause.cause, causesLeft - 1) }),
  };
}
