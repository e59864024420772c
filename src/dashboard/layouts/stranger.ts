/**
 * Whether this document was sent to a browser without a session: the server marks it. Signing in loads a new document. A
 * cookie whose session has ended is known only by an answer.
 */
export function isStranger(): boolean {
  return document.querySelector('meta[name="saldo-stranger"]') !== null;
}
