/** Whether our server can be reached. */
export async function isReachable(): Promise<boolean> {
  const answer = await fetch("/", { method: "HEAD", cache: "no-store" }).catch(() => null);
  return answer?.ok === true;
}
