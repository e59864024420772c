// Pages whose code is fetched when they are first opened.

import { lazyRouteComponent } from "@tanstack/react-router";
import { isReachable } from "../api/reachable.ts";

/**
 * A page from a file of its own. A missing file belongs to an earlier build: the page is then reloaded once. It is not
 * reloaded when the server cannot be reached, because a browser without a network shows an error page of its own.
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
