/** Whether this is a demo: the server marks its page, so it is known before the first answer and nothing moves. */
export function isDemo(): boolean {
  return document.querySelector('meta[name="saldo-demo"]') !== null;
}
