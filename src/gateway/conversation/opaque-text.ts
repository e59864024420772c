// How clients are given what a provider wants back unchanged: as one text that names its origin, in the member that their protocol has
// for it. Protocols without such a member for calls carry it in the id of the call.

import type { Opaque } from "./conversation.ts";

/** Ids of upstreams have dots. This stands for them, so that the first dot ends the origin; no id has it. */
const DOT_IN_ORIGIN = "~";
const OPAQUE_TEXT = /^([a-z0-9][a-z0-9~_-]*)\.(.+)$/s;
/** Between the id of a call and its text. No id that we hand out has a dot. */
const CALL_MARK = ".saldo.";

/** The text for a client: `<origin>.<blob>`. */
export function opaqueText({ origin, blob }: Opaque): string {
  return `${origin.replaceAll(".", DOT_IN_ORIGIN)}.${blob}`;
}

/** What a client sent back. Null: it is from elsewhere. The origin may be an upstream that no longer exists. */
export function readOpaqueText(text: string): Opaque | null {
  const [, origin, blob] = OPAQUE_TEXT.exec(text) ?? [];
  return origin === undefined || blob === undefined ? null : { origin: origin.replaceAll(DOT_IN_ORIGIN, "."), blob };
}

/** A call as its client knows it. */
export type CallId = { readonly id: string; readonly opaque?: Opaque };

/** The id for a client whose protocol has no other place for what belongs to a call. */
export function callIdText({ id, opaque }: CallId): string {
  return opaque === undefined ? id : `${id}${CALL_MARK}${opaqueText(opaque)}`;
}

/** The id that a client sent back, of a call or of its result. */
export function readCallIdText(text: string): CallId {
  const mark = text.indexOf(CALL_MARK);
  const opaque = mark < 1 ? null : readOpaqueText(text.slice(mark + CALL_MARK.length));
  return opaque === null ? { id: text } : { id: text.slice(0, mark), opaque };
}
