// The pages of operators and their paths.

import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../layouts/lazy-page.ts";
import { inside } from "./frame.ts";
import { texts } from "./search.ts";

const operator = createRoute({
  getParentRoute: () => inside,
  path: "/operator",
  component: lazyPage(() => import("../pages/operator/operator-frame.tsx"), "OperatorFrame"),
});
const operatorHome = createRoute({
  getParentRoute: () => operator,
  path: "/",
  component: lazyPage(() => import("../pages/operator/home/operator-home-page.tsx"), "OperatorHomePage"),
});
const operatorCatalog = createRoute({
  getParentRoute: () => operator,
  path: "/catalog",
  validateSearch: texts("view", "q", "model", "version"),
  component: lazyPage(() => import("../pages/operator/catalog/catalog-page.tsx"), "CatalogPage"),
});
const operatorAccounts = createRoute({
  getParentRoute: () => operator,
  path: "/accounts",
  validateSearch: texts("q", "sort"),
  component: lazyPage(() => import("../pages/operator/accounts/accounts-page.tsx"), "AccountsPage"),
});
const operatorAccount = createRoute({
  getParentRoute: () => operator,
  path: "/accounts/$accountId",
  component: lazyPage(() => import("../pages/operator/accounts/account-page.tsx"), "AccountPage"),
});

const operatorUpstreams = createRoute({
  getParentRoute: () => operator,
  path: "/upstreams",
  validateSearch: texts("upstream"),
  component: lazyPage(() => import("../pages/operator/upstreams/upstreams-page.tsx"), "UpstreamsPage"),
});
const operatorLedger = createRoute({
  getParentRoute: () => operator,
  path: "/ledger",
  validateSearch: texts("view", "account", "reason", "reference", "group", "asset", "from", "to", "open"),
  component: lazyPage(() => import("../pages/operator/ledger/ledger-page.tsx"), "LedgerPage"),
});
const operatorTopUps = createRoute({
  getParentRoute: () => operator,
  path: "/top-ups",
  validateSearch: texts("account", "provider", "state", "problems", "sort", "topUp"),
  component: lazyPage(() => import("../pages/operator/top-ups/top-ups-page.tsx"), "TopUpsPage"),
});
const operatorTransfers = createRoute({
  getParentRoute: () => operator,
  path: "/transfers",
  validateSearch: texts("name", "account", "environment", "status", "approval", "transfer"),
  component: lazyPage(() => import("../pages/operator/transfers/transfers-page.tsx"), "TransfersPage"),
});
const operatorLog = createRoute({
  getParentRoute: () => operator,
  path: "/log",
  validateSearch: texts("operator", "action", "subject", "from", "to", "open"),
  component: lazyPage(() => import("../pages/operator/log/log-page.tsx"), "LogPage"),
});
const operatorSecurity = createRoute({
  getParentRoute: () => operator,
  path: "/security",
  validateSearch: texts("person", "account", "kind", "outcome", "reads", "event"),
  component: lazyPage(() => import("../pages/operator/security/security-page.tsx"), "SecurityPage"),
});
const operatorServiceTokens = createRoute({
  getParentRoute: () => operator,
  path: "/service-tokens",
  component: lazyPage(() => import("../pages/operator/service-tokens/service-tokens-page.tsx"), "ServiceTokensPage"),
});
const operatorApprovals = createRoute({
  getParentRoute: () => operator,
  path: "/approvals",
  validateSearch: texts("state", "approval"),
  component: lazyPage(() => import("../pages/operator/approvals/approvals-page.tsx"), "ApprovalsPage"),
});
const operatorFees = createRoute({
  getParentRoute: () => operator,
  path: "/fees",
  validateSearch: texts("merchant", "old"),
  component: lazyPage(() => import("../pages/operator/fees/fees-page.tsx"), "FeesPage"),
});
const operatorService = createRoute({
  getParentRoute: () => operator,
  path: "/service",
  component: lazyPage(() => import("../pages/operator/service/service-page.tsx"), "ServicePage"),
});
const operatorMargin = createRoute({
  getParentRoute: () => operator,
  path: "/margin",
  validateSearch: texts("from", "to", "by", "sort"),
  component: lazyPage(() => import("../pages/operator/margin/margin-page.tsx"), "MarginPage"),
});
/** All of them, below their shared frame. */
export const operatorPages = operator.addChildren([
  operatorHome,
  operatorCatalog,
  operatorUpstreams,
  operatorAccounts,
  operatorAccount,
  operatorLedger,
  operatorTopUps,
  operatorTransfers,
  operatorApprovals,
  operatorFees,
  operatorService,
  operatorMargin,
  operatorServiceTokens,
  operatorLog,
  operatorSecurity,
]);
