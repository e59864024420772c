/** Whether our server answers. */
export async function isReachable(): Promise<boolean> {
  const answer = await fetch("/", { method: "HEAD", cache: "no-store" }).catch(() => null);
  return answer?.ok === true;
}
