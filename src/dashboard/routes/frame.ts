// The parent routes: that of all pages, and that of the pages that need a session.

import { createRootRoute, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { NotFoundPage } from "../pages/not-found.tsx";
import { SignedIn } from "../layouts/signed-in.tsx";
import { isStranger } from "../layouts/stranger.ts";

/** The parent of every page. */
export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

/** The parent of the pages that need a session. A stranger at another of them than "/" signs in first. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  beforeLoad: ({ location: { pathname, href } }) => {
    if (isStranger() && pathname !== "/") throw redirect({ to: "/sign-in", search: { next: href }, replace: true });
  },
  component: SignedIn,
});
