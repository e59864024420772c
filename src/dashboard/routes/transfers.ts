// The pages of a merchant's transfers and their paths, one set for each environment.

import { createRoute, notFound, redirect } from "@tanstack/react-router";
import { isEnvironmentName } from "../pages/transfers/environment-names.ts";
import { lazyPage } from "../layouts/lazy-page.ts";
import { inside } from "./frame.ts";
import { texts } from "./search.ts";

/** Redirects to the sandbox. */
export const transfers = createRoute({
  getParentRoute: () => inside,
  path: "/transfers",
  beforeLoad: () => {
    throw redirect({ to: "/transfers/$environment", params: { environment: "sandbox" } });
  },
});
const merchant = createRoute({
  getParentRoute: () => inside,
  path: "/transfers/$environment",
  beforeLoad: ({ params }) => {
    if (!isEnvironmentName(params.environment)) throw notFound();
  },
  component: lazyPage(() => import("../pages/transfers/merchant-frame.tsx"), "MerchantFrame"),
});
const transferList = createRoute({
  getParentRoute: () => merchant,
  path: "/",
  validateSearch: texts("status"),
  component: lazyPage(() => import("../pages/transfers/transfer-list-page.tsx"), "TransferListPage"),
});
const transferOrder = createRoute({
  getParentRoute: () => merchant,
  path: "/new",
  component: lazyPage(() => import("../pages/transfers/order-page.tsx"), "OrderPage"),
});
const credentials = createRoute({
  getParentRoute: () => merchant,
  path: "/credentials",
  component: lazyPage(() => import("../pages/transfers/credentials-page.tsx"), "CredentialsPage"),
});
const callbacks = createRoute({
  getParentRoute: () => merchant,
  path: "/callbacks",
  validateSearch: texts("delivery"),
  component: lazyPage(() => import("../pages/transfers/callbacks-page.tsx"), "CallbacksPage"),
});
const transfer = createRoute({
  getParentRoute: () => merchant,
  path: "/$transferId",
  component: lazyPage(() => import("../pages/transfers/transfer-page.tsx"), "TransferPage"),
});

/** All of them, below their shared frame. */
export const transferPages = merchant.addChildren([transferList, transferOrder, credentials, callbacks, transfer]);
