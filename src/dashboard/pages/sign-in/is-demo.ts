/** Whether this is a demo: the server marks its page. */
export function isDemo(): boolean {
  return document.querySelector('meta[name="saldo-demo"]') !== null;
}
