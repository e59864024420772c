// Pages whose program is fetched when they are first opened.

import { lazyRouteComponent } from "@tanstack/react-router";
import { isReachable } from "../api/reachable.ts";

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
