// Pages whose program is fetched when they are first opened.

import { lazyRouteComponent } from "@tanstack/react-router";

/**
 * A page out of a file of its own. A file that is gone is one of a build before the last: the page is then loaded anew, once. When
 * nothing can be reached it is not, because a browser that reloads without a network leaves us for a page of its own.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (error) {
      if (await isReachable()) throw error; // the router knows it by its text, and reloads
      throw new Error("nothing could be reached while a page was opened", { cause: error });
    }
  }, name);

/** Whether our server answers. */
export async function isReachable(): Promise<boolean> {
  const answer = await fetch("/", { method: "HEAD", cache: "no-store" }).catch(() => null);
  return answer?.ok === true;
}
