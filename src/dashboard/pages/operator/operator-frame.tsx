// The frame of the operators' pages: its sections, each a page of its own.

import { useQuery } from "@connectrpc/connect-query";
import { Link, type LinkProps, Outlet } from "@tanstack/react-router";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Role } from "#gen/saldo/accounts/v1/person_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { SkeletonLines } from "../../components/states.tsx";
import { OPERATOR_MESSAGES } from "./operator-messages.ts";

type Section = { readonly to: NonNullable<LinkProps["to"]>; readonly name: keyof typeof OPERATOR_MESSAGES.id };

const SECTIONS: readonly Section[] = [
  { to: "/operator", name: "overview" },
  { to: "/operator/catalog", name: "catalog" },
  { to: "/operator/upstreams", name: "upstreams" },
  { to: "/operator/accounts", name: "accounts" },
  { to: "/operator/ledger", name: "ledger" },
  { to: "/operator/top-ups", name: "topUps" },
  { to: "/operator/transfers", name: "transfers" },
  { to: "/operator/approvals", name: "approvals" },
  { to: "/operator/fees", name: "fees" },
  { to: "/operator/service", name: "service" },
  { to: "/operator/margin", name: "margin" },
  { to: "/operator/service-tokens", name: "serviceTokens" },
  { to: "/operator/log", name: "log" },
  { to: "/operator/security", name: "security" },
];

/** The sections above, the chosen one below. The server refuses other accounts; the page only shows that. */
export function OperatorFrame() {
  const messages = useMessages(OPERATOR_MESSAGES);
  const { data, error } = useQuery(AccountsService.method.getMe, {});
  // The frame around shows that loading failed, with a way to try again.
  if (data === undefined) return error === null ? <SkeletonLines lines={8} /> : null;
  if (data.person?.roles.includes(Role.OPERATOR) !== true) {
    return (
      <Page title={messages.onlyOperators} about={messages.onlyOperatorsAbout}>
        <LinkButton to="/" className="self-start">
          {messages.home}
        </LinkButton>
      </Page>
    );
  }
  return (
    <>
      <nav aria-label={messages.sections} className="border-b border-line bg-card">
        <ul className="mx-auto flex w-full max-w-6xl flex-wrap gap-x-1 px-2 sm:px-4">
          {SECTIONS.map(({ to, name }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ exact: to === "/operator" }}
                className="-mb-px flex min-h-10 items-center border-b-2 border-transparent px-1.5 text-[0.8125rem] font-medium text-muted hover:text-ink data-[status=active]:border-action data-[status=active]:text-ink"
              >
                {messages[name]}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Outlet />
    </>
  );
}
