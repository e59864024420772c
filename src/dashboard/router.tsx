// Every page and its path. Pages are loaded when they are first opened; their search is in the address, so that a page
// can be shared.

import { createRoute, createRouter, type RouterHistory } from "@tanstack/react-router";
import { readModelsSearch } from "./pages/models/models-search.ts";
import { readUsageSearch } from "./pages/usage/usage-search.ts";
import { inside, root } from "./routes/frame.ts";
import { operatorPages } from "./routes/operator.ts";
import { only, texts } from "./routes/search.ts";
import { transferPages, transfers } from "./routes/transfers.ts";
import { BrokenPage } from "./layouts/broken-page.tsx";
import { lazyPage } from "./layouts/lazy-page.ts";
import { OpenToAll } from "./layouts/open-to-all.tsx";
import { isStranger } from "./layouts/stranger.ts";

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: texts("next"),
  component: lazyPage(() => import("./pages/sign-in/sign-in-page.tsx"), "SignInPage"),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  validateSearch: texts("next"),
  component: lazyPage(() => import("./pages/sign-in/sign-up-page.tsx"), "SignUpPage"),
});
const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: lazyPage(() => import("./pages/sign-in/forgot-password-page.tsx"), "ForgotPasswordPage"),
});
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  validateSearch: texts("token", "error", "after", "next"),
  component: lazyPage(() => import("./pages/sign-in/reset-password-page.tsx"), "ResetPasswordPage"),
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: "/",
  component: isStranger()
    ? lazyPage(() => import("./pages/welcome/welcome-page.tsx"), "WelcomePage")
    : lazyPage(() => import("./pages/overview/overview-page.tsx"), "OverviewPage"),
});
const billing = createRoute({
  getParentRoute: () => inside,
  path: "/billing",
  validateSearch: texts("topUp"),
  component: lazyPage(() => import("./pages/billing/billing-page.tsx"), "BillingPage"),
});

const keys = createRoute({
  getParentRoute: () => inside,
  path: "/keys",
  validateSearch: only(({ create, sort }): { create?: true; sort?: string } => ({
    ...(create === true ? { create } : {}),
    ...(typeof sort === "string" && sort !== "" ? { sort } : {}),
  })),
  component: lazyPage(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
});
const playground = createRoute({
  getParentRoute: () => inside,
  path: "/playground",
  validateSearch: texts("model", "compare"),
  component: lazyPage(() => import("./pages/playground/playground-page.tsx"), "PlaygroundPage"),
});
const usage = createRoute({
  getParentRoute: () => inside,
  path: "/usage",
  validateSearch: only(readUsageSearch),
  component: lazyPage(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
});

const secondFactor = createRoute({
  getParentRoute: () => inside,
  path: "/second-factor",
  component: lazyPage(() => import("./pages/second-factor/second-factor-page.tsx"), "SecondFactorPage"),
});
const settings = createRoute({
  getParentRoute: () => inside,
  path: "/settings",
  component: lazyPage(() => import("./pages/settings/settings-page.tsx"), "SettingsPage"),
});
const alerts = createRoute({
  getParentRoute: () => inside,
  path: "/alerts",
  component: lazyPage(() => import("./pages/alerts/alerts-page.tsx"), "AlertsPage"),
});
const members = createRoute({
  getParentRoute: () => inside,
  path: "/members",
  component: lazyPage(() => import("./pages/members/members-page.tsx"), "MembersPage"),
});
const invite = createRoute({
  getParentRoute: () => inside,
  path: "/invite",
  validateSearch: texts("token"),
  component: lazyPage(() => import("./pages/invite/invite-page.tsx"), "InvitePage"),
});
const openToAll = createRoute({ getParentRoute: () => root, id: "open-to-all", component: OpenToAll });
const modelsArea = createRoute({ getParentRoute: () => openToAll, path: "/models" });
const models = createRoute({
  getParentRoute: () => modelsArea,
  path: "/",
  validateSearch: only(readModelsSearch),
  component: lazyPage(() => import("./pages/models/models-page.tsx"), "ModelsPage"),
});
// The ids of models contain slashes.
const model = createRoute({
  getParentRoute: () => modelsArea,
  path: "/$",
  component: lazyPage(() => import("./pages/models/models-page.tsx"), "ModelPage"),
});
const status = createRoute({
  getParentRoute: () => openToAll,
  path: "/status",
  component: lazyPage(() => import("./pages/status/status-page.tsx"), "StatusPage"),
});
const docsPage = lazyPage(() => import("./pages/docs/docs-page.tsx"), "DocsPage");
const docs = createRoute({ getParentRoute: () => openToAll, path: "/docs", component: docsPage });
const api = createRoute({
  getParentRoute: () => openToAll,
  path: "/docs/api",
  validateSearch: texts("q", "op"),
  component: lazyPage(() => import("./pages/docs/api-page.tsx"), "ApiPage"),
});
const doc = createRoute({ getParentRoute: () => openToAll, path: "/docs/$page", component: docsPage });

const tree = root.addChildren([
  openToAll.addChildren([modelsArea.addChildren([models, model]), status, docs, api, doc]),
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  inside.addChildren([
    overview,
    usage,
    playground,
    keys,
    billing,
    transfers,
    transferPages,
    settings,
    alerts,
    members,
    invite,
    secondFactor,
    operatorPages,
  ]),
]);

/** The router of the page; a test gives it a history of its own. */
export function createPages(history?: RouterHistory) {
  return createRouter({
    routeTree: tree,
    defaultPreload: "intent",
    defaultErrorComponent: BrokenPage,
    scrollRestoration: true,
    ...(history === undefined ? {} : { history }),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createPages>;
  }
}
