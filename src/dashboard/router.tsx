// Every page and its path. Pages are loaded when they are first opened; what they look up is the search of the address, so
// that a page can be sent to somebody.

import {
  createRootRoute,
  createRoute,
  createRouter,
  notFound,
  Outlet,
  redirect,
  type RouterHistory,
} from "@tanstack/react-router";
import { readModelsSearch } from "./pages/models/models-search.ts";
import { readUsageSearch } from "./pages/usage/usage-search.ts";
import { NotFoundPage } from "./pages/not-found.tsx";
import { isEnvironmentName } from "./pages/transfers/environment-names.ts";
import { BrokenPage } from "./shell/broken-page.tsx";
import { lazyPage } from "./shell/lazy-page.ts";
import { OpenToAll } from "./shell/open-to-all.tsx";
import { SignedIn } from "./shell/signed-in.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

type RawSearch = Readonly<Record<string, unknown>>;

/** What a page does not keep of its address is as if it were not there: the router alone would hand it on as it was written. */
const only =
  <Search extends object>(read: (search: RawSearch) => Search) =>
  (search: RawSearch): Search => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });

const texts = <Name extends string>(...names: readonly Name[]) =>
  only((search) => {
    const kept: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const value = search[name];
      // Digits that somebody typed into the address are read as a number.
      if (typeof value === "number") kept[name] = String(value);
      if (typeof value === "string" && value !== "") kept[name] = value;
    }
    return kept;
  });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: texts("next"),
  component: lazyPage(() => import("./pages/sign-in/sign-in-page.tsx"), "SignInPage"),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
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
  validateSearch: texts("token", "error"),
  component: lazyPage(() => import("./pages/sign-in/reset-password-page.tsx"), "ResetPasswordPage"),
});

const inside = createRoute({ getParentRoute: () => root, id: "inside", component: SignedIn });
const overview = createRoute({
  getParentRoute: () => inside,
  path: "/",
  component: lazyPage(() => import("./pages/overview/overview-page.tsx"), "OverviewPage"),
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
  validateSearch: only(({ create }): { create?: true } => (create === true ? { create } : {})),
  component: lazyPage(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
});
const models = createRoute({
  getParentRoute: () => inside,
  path: "/models",
  validateSearch: only(readModelsSearch),
  component: lazyPage(() => import("./pages/models/models-page.tsx"), "ModelsPage"),
});
const playground = createRoute({
  getParentRoute: () => inside,
  path: "/playground",
  validateSearch: texts("model"),
  component: lazyPage(() => import("./pages/playground/playground-page.tsx"), "PlaygroundPage"),
});
const usage = createRoute({
  getParentRoute: () => inside,
  path: "/usage",
  validateSearch: only(readUsageSearch),
  component: lazyPage(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
});

const operator = createRoute({
  getParentRoute: () => inside,
  path: "/operator",
  component: lazyPage(() => import("./pages/operator/operator-frame.tsx"), "OperatorFrame"),
});
const operatorHome = createRoute({
  getParentRoute: () => operator,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/operator/catalog" });
  },
});
const operatorCatalog = createRoute({
  getParentRoute: () => operator,
  path: "/catalog",
  validateSearch: texts("view", "q", "model", "version"),
  component: lazyPage(() => import("./pages/operator/catalog/catalog-page.tsx"), "CatalogPage"),
});
const operatorAccounts = createRoute({
  getParentRoute: () => operator,
  path: "/accounts",
  validateSearch: texts("q"),
  component: lazyPage(() => import("./pages/operator/accounts/accounts-page.tsx"), "AccountsPage"),
});
const operatorAccount = createRoute({
  getParentRoute: () => operator,
  path: "/accounts/$accountId",
  component: lazyPage(() => import("./pages/operator/accounts/account-page.tsx"), "AccountPage"),
});

const operatorUpstreams = createRoute({
  getParentRoute: () => operator,
  path: "/upstreams",
  validateSearch: texts("upstream"),
  component: lazyPage(() => import("./pages/operator/upstreams/upstreams-page.tsx"), "UpstreamsPage"),
});
const operatorLedger = createRoute({
  getParentRoute: () => operator,
  path: "/ledger",
  validateSearch: texts("view", "account", "reason", "reference", "group", "asset", "from", "to", "open"),
  component: lazyPage(() => import("./pages/operator/ledger/ledger-page.tsx"), "LedgerPage"),
});
const operatorTopUps = createRoute({
  getParentRoute: () => operator,
  path: "/top-ups",
  validateSearch: texts("account", "provider", "state", "problems", "topUp"),
  component: lazyPage(() => import("./pages/operator/top-ups/top-ups-page.tsx"), "TopUpsPage"),
});
const operatorTransfers = createRoute({
  getParentRoute: () => operator,
  path: "/transfers",
  validateSearch: texts("name", "account", "environment", "status", "approval", "transfer"),
  component: lazyPage(() => import("./pages/operator/transfers/transfers-page.tsx"), "TransfersPage"),
});
const operatorLog = createRoute({
  getParentRoute: () => operator,
  path: "/log",
  validateSearch: texts("operator", "action", "subject", "from", "to", "open"),
  component: lazyPage(() => import("./pages/operator/log/log-page.tsx"), "LogPage"),
});
const operatorFees = createRoute({
  getParentRoute: () => operator,
  path: "/fees",
  validateSearch: texts("merchant", "old"),
  component: lazyPage(() => import("./pages/operator/fees/fees-page.tsx"), "FeesPage"),
});
const operatorService = createRoute({
  getParentRoute: () => operator,
  path: "/service",
  component: lazyPage(() => import("./pages/operator/service/service-page.tsx"), "ServicePage"),
});
const operatorMargin = createRoute({
  getParentRoute: () => operator,
  path: "/margin",
  validateSearch: texts("from", "to", "by"),
  component: lazyPage(() => import("./pages/operator/margin/margin-page.tsx"), "MarginPage"),
});
const operatorPages = operator.addChildren([
  operatorHome,
  operatorCatalog,
  operatorUpstreams,
  operatorAccounts,
  operatorAccount,
  operatorLedger,
  operatorTopUps,
  operatorTransfers,
  operatorFees,
  operatorService,
  operatorMargin,
  operatorLog,
]);

const settings = createRoute({
  getParentRoute: () => inside,
  path: "/settings",
  component: lazyPage(() => import("./pages/settings/settings-page.tsx"), "SettingsPage"),
});
const transfers = createRoute({
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
  component: lazyPage(() => import("./pages/transfers/merchant-frame.tsx"), "MerchantFrame"),
});
const transferList = createRoute({
  getParentRoute: () => merchant,
  path: "/",
  validateSearch: texts("status"),
  component: lazyPage(() => import("./pages/transfers/transfer-list-page.tsx"), "TransferListPage"),
});
const transferOrder = createRoute({
  getParentRoute: () => merchant,
  path: "/new",
  component: lazyPage(() => import("./pages/transfers/order-page.tsx"), "OrderPage"),
});
const credentials = createRoute({
  getParentRoute: () => merchant,
  path: "/credentials",
  component: lazyPage(() => import("./pages/transfers/credentials-page.tsx"), "CredentialsPage"),
});
const callbacks = createRoute({
  getParentRoute: () => merchant,
  path: "/callbacks",
  validateSearch: texts("delivery"),
  component: lazyPage(() => import("./pages/transfers/callbacks-page.tsx"), "CallbacksPage"),
});
const transfer = createRoute({
  getParentRoute: () => merchant,
  path: "/$transferId",
  component: lazyPage(() => import("./pages/transfers/transfer-page.tsx"), "TransferPage"),
});

const transferPages = merchant.addChildren([transferList, transferOrder, credentials, callbacks, transfer]);

const openToAll = createRoute({ getParentRoute: () => root, id: "open-to-all", component: OpenToAll });
const docsPage = lazyPage(() => import("./pages/docs/docs-page.tsx"), "DocsPage");
const docs = createRoute({ getParentRoute: () => openToAll, path: "/docs", component: docsPage });
const doc = createRoute({ getParentRoute: () => openToAll, path: "/docs/$page", component: docsPage });

const tree = root.addChildren([
  openToAll.addChildren([docs, doc]),
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  inside.addChildren([
    overview,
    usage,
    models,
    playground,
    keys,
    billing,
    transfers,
    transferPages,
    settings,
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
