// The parent routes: that of all pages, and that of the pages that need a session.

import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router";
import { NotFoundPage } from "../pages/not-found.tsx";
import { SignedIn } from "../layouts/signed-in.tsx";

/** The parent of every page. */
export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

/** The parent of the pages that need a session. */
export const inside = createRoute({ getParentRoute: () => root, id: "inside", component: SignedIn });
