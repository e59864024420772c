// The routes that others hang on: all pages, and the pages of those who are signed in.

import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router";
import { NotFoundPage } from "../pages/not-found.tsx";
import { SignedIn } from "../layouts/signed-in.tsx";

/** Above every page. */
export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

/** Above the pages of those who are signed in. */
export const inside = createRoute({ getParentRoute: () => root, id: "inside", component: SignedIn });
