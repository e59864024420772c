// The frame of pages for signed-in people. The navigation is at the left, or behind a button on a narrow page. The top
// shows the current page, the environment, the balance and the reader's preferences.

import { useQuery } from "@connectrpc/connect-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Menu, Wallet } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { useSwitchedElsewhere } from "../api/acting-for.ts";
import { useFormats } from "../i18n/format.ts";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { Badge } from "../components/badge.tsx";
import { buttonClass, IconButton } from "../components/button.tsx";
import { usePageTitle } from "../components/page-title.ts";
import { AccountSwitcher } from "./account-switcher.tsx";
import { Brand } from "./brand.tsx";
import { Choices } from "./choices.tsx";
import { isDemo } from "./is-demo.ts";
import { GROUPS, PLACE_MESSAGES } from "./navigation.ts";
import { NotAMember } from "./not-a-member.tsx";
import { NotForRole } from "./not-for-role.tsx";
import { isAllowed, useMay } from "./role.ts";
import { SwitchedBanner } from "./switched-banner.tsx";
import { SignOut } from "./sign-out.tsx";

const MESSAGES = {
  id: {
    navigation: "Navigasi utama",
    open: "Buka navigasi",
    close: "Tutup navigasi",
    skip: "Langsung ke isi",
    balance: "Saldo tersedia",
    demo: "Demo",
    breadcrumb: "Lokasi",
  },
  en: {
    navigation: "Main navigation",
    open: "Open navigation",
    close: "Close navigation",
    skip: "Skip to content",
    balance: "Available balance",
    demo: "Demo",
    breadcrumb: "You are here",
  },
} satisfies Messages<Record<string, string>>;

/** The signed-in person, as far as the frame needs it. */
export type Reader = {
  readonly email: string;
  readonly isOperator: boolean;
  /** The role in the account that the page shows. Undefined: not loaded yet. */
  readonly role: AccountRole | undefined;
};

/** The frame; the page renders in its outlet, below a notice if there is one. */
export function Inside({ reader, notice }: { readonly reader: Reader; readonly notice?: ReactNode }) {
  const messages = useMessages(MESSAGES);
  const { pathname } = useLocation();
  const { isOpen, setOpen, button } = useNarrowNavigation(pathname);
  const isSwitched = useSwitchedElsewhere();
  return (
    <div className="lg:grid lg:min-h-dvh lg:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#content"
        className={buttonClass("action", "fixed top-2 left-2 z-50 -translate-y-16 focus:translate-y-0")}
      >
        {messages.skip}
      </a>
      <aside
        className={`border-line bg-card max-lg:fixed max-lg:inset-0 max-lg:top-14 max-lg:z-30 max-lg:overflow-y-auto lg:sticky lg:top-0 lg:h-dvh lg:border-r ${isOpen ? "" : "max-lg:hidden"}`}
      >
        <div className="px-5 py-4 max-lg:hidden">
          <Brand />
        </div>
        <AccountSwitcher />
        {/* Choosing the open page closes the navigation as well. */}
        <Navigation reader={reader} onChoose={() => setOpen(false)} />
      </aside>
      <div className="flex min-w-0 flex-col">
        <header className="sticky top-0 z-20 bg-card">
          <div className="flex h-14 items-center justify-between gap-2 border-b border-line px-4">
            <div className="flex min-w-0 items-center gap-2.5">
              <IconButton
                ref={button}
                label={isOpen ? messages.close : messages.open}
                aria-expanded={isOpen}
                className="shrink-0 lg:hidden"
                onClick={() => setOpen(!isOpen)}
              >
                <Menu aria-hidden />
              </IconButton>
              <Whereabouts pathname={pathname} reader={reader} />
              {isDemo() ? (
                <span className="inline-flex max-sm:hidden">
                  <Badge tone="sandbox">{messages.demo}</Badge>
                </span>
              ) : null}
            </div>
            <div className="flex items-center gap-2">
              <BalanceLink />
              <Choices />
            </div>
          </div>
          {/* The header of a narrow page has no room for it beside a large balance. */}
          {isDemo() ? (
            <p className="border-b border-line bg-sandbox-soft px-4 py-1 text-center text-xs font-medium text-sandbox sm:hidden">
              {messages.demo}
            </p>
          ) : null}
        </header>
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 outline-none">
          <SwitchedBanner />
          {notice === undefined ? null : (
            <div className="mx-auto w-full max-w-6xl p-4 pb-0 sm:p-6 sm:pb-0">{notice}</div>
          )}
          {/* After a switch in another tab the role may be that of the other account; the page stays, with what it shows. */}
          {isSwitched ? (
            <Outlet />
          ) : reader.role === AccountRole.UNSPECIFIED ? (
            <NotAMember />
          ) : isClosed(pathname, reader.role) ? (
            <NotForRole role={reader.role} />
          ) : (
            <Outlet />
          )}
        </main>
      </div>
    </div>
  );
}

/** Whether a role may not read the page of a path. The first page leads each role on by itself. */
function isClosed(pathname: string, role: AccountRole | undefined): role is AccountRole {
  const place = GROUPS.flatMap(({ places }) => places).find(
    ({ to }) => to !== "/" && (pathname === to || pathname.startsWith(`${to}/`)),
  );
  return role !== undefined && place?.needs !== undefined && !isAllowed(role, place.needs);
}

/** The navigation of a narrow page, which covers it until a page is chosen, or Escape is pressed. */
function useNarrowNavigation(pathname: string): {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  /** The button that opens it: the focus returns there. */
  readonly button: RefObject<HTMLButtonElement | null>;
} {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => setOpen(false), [pathname]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = ({ key }: KeyboardEvent) => {
      if (key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("keydown", close);
    return () => document.removeEventListener("keydown", close);
  }, [isOpen]);
  return { isOpen, setOpen, button };
}

type NavigationProps = { readonly reader: Reader; readonly onChoose: () => void };

function Navigation({ reader: { isOperator, email, role }, onChoose }: NavigationProps) {
  const messages = useMessages(MESSAGES);
  const names = useMessages(PLACE_MESSAGES);
  const groups = groupsOf({ isOperator, role });
  return (
    <nav aria-label={messages.navigation} className="flex flex-col gap-4 px-3 py-2">
      {groups.map(({ name, places }) => (
        <div key={name ?? "top"} className="flex flex-col gap-0.5">
          {name === null ? null : <p className="px-3 py-1 text-xs font-medium text-muted">{names[name]}</p>}
          {places.map(({ to, name: place, icon: Icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === "/" }}
              onClick={onChoose}
              className="flex min-h-9 items-center gap-3 rounded-lg px-3 text-muted hover:bg-sunken hover:text-ink data-[status=active]:bg-sunken data-[status=active]:font-medium data-[status=active]:text-ink"
            >
              <Icon className="size-4 shrink-0" aria-hidden />
              {names[place]}
            </Link>
          ))}
        </div>
      ))}
      <div className="border-t border-line pt-3">
        <p className="truncate px-3 py-1 text-xs text-muted" title={email}>
          {email}
        </p>
        <SignOut />
      </div>
    </nav>
  );
}

/** The groups and places that a reader may open. */
function groupsOf({ isOperator, role }: Pick<Reader, "isOperator" | "role">): typeof GROUPS {
  return GROUPS.filter(({ forOperators = false }) => isOperator || !forOperators)
    .map((group) => ({
      ...group,
      places: group.places.filter(({ needs }) => needs === undefined || isAllowed(role, needs)),
    }))
    .filter(({ places }) => places.length > 0);
}

function Whereabouts({ pathname, reader }: { readonly pathname: string; readonly reader: Reader }) {
  const messages = useMessages(MESSAGES);
  const names = useMessages(PLACE_MESSAGES);
  const title = usePageTitle();
  const places = groupsOf(reader).flatMap((group) => group.places.map((place) => ({ group: group.name, ...place })));
  const here = places.find(({ to }) => (to === "/" ? pathname === "/" : pathname.startsWith(to)));
  if (here === undefined) return null;
  const isDeeper = pathname !== here.to && title !== "" && title !== names[here.name];
  return (
    <nav aria-label={messages.breadcrumb} className="min-w-0 text-[0.8125rem] text-muted max-sm:hidden">
      <ol className="flex items-center gap-1.5">
        {here.group === null || here.group === here.name ? null : (
          <li className="after:ml-1.5 after:content-['/']">{names[here.group]}</li>
        )}
        {isDeeper ? (
          <>
            <li className="after:ml-1.5 after:content-['/']">
              <Link to={here.to} className="hover:text-ink hover:underline">
                {names[here.name]}
              </Link>
            </li>
            <li aria-current="page" className="truncate text-ink">
              {title}
            </li>
          </>
        ) : (
          <li aria-current="page" className="truncate text-ink">
            {names[here.name]}
          </li>
        )}
      </ol>
    </nav>
  );
}

function BalanceLink() {
  const messages = useMessages(MESSAGES);
  const formats = useFormats();
  const { data } = useQuery(BillingService.method.getBalance, {}, { refetchInterval: 30_000 });
  const balance = (
    <>
      <Wallet aria-hidden className="max-sm:hidden" />
      <span className="sr-only">{messages.balance}</span>
      {formats.wholeRupiah(data?.balance?.available)}
    </>
  );
  // A developer sees the balance, and not where it came from.
  if (!useMay("readMoney")) return <span className={buttonClass("quiet", "digits")}>{balance}</span>;
  return (
    <Link to="/billing" className={buttonClass("plain", "digits")}>
      {balance}
    </Link>
  );
}
