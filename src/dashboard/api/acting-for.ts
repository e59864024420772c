// The account that this page shows. Each call names it, so that a tab from before a switch in another tab changes nothing in the wrong
// account: the server refuses the call. Other tabs show a banner when one switches, and are reloaded by the person: they may hold a secret
// that is shown once, or a half-filled form.

import type { Interceptor } from "@connectrpc/connect";
import { useSyncExternalStore } from "react";

const ACCOUNT_HEADER = "x-saldo-account";
/** Methods about the person, which work in whichever account the session acts for. */
const ABOUT_THE_PERSON: ReadonlySet<string> = new Set([
  "GetMe",
  "UpdateSettings",
  "ListSessions",
  "RevokeSession",
  "ListMyAccounts",
  "SwitchAccount",
  "ShowInvite",
  "AcceptInvite",
]);

let shown: string | null = null;
let chosenElsewhere: string | null = null;
const listeners = new Set<() => void>();
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("saldo-account");

/**
 * Sets the account that the page shows. Null: not known, or an operator's page, whose calls name other accounts. A page shows one account
 * until it is loaded again: another one is that of a switch in another tab.
 */
export function showAccount(accountId: string | null): void {
  if (shown !== null && accountId !== null && accountId !== shown) noticeSwitch(accountId);
  else shown = accountId;
}

/** Names the account that the page shows. */
export const nameAccount: Interceptor = (next) => (request) => {
  if (shown !== null && !ABOUT_THE_PERSON.has(request.method.name) && !request.header.has(ACCOUNT_HEADER)) {
    request.header.set(ACCOUNT_HEADER, shown);
  }
  return next(request);
};

/** Loads everything again, here and in the other tabs: no data of one account stays in memory for the next. */
export function reloadForAccount(accountId: string): void {
  // A channel of the page's own origin takes no target, unlike a window.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  tabs?.postMessage(accountId);
  window.location.assign("/");
}

/** Notices when another tab switches. Returns a function that stops it. */
export function followOtherTabs(): () => void {
  tabs?.addEventListener("message", follow);
  return () => tabs?.removeEventListener("message", follow);
}

function follow({ data }: MessageEvent<unknown>): void {
  if (typeof data === "string") noticeSwitch(data);
}

function noticeSwitch(accountId: string): void {
  chosenElsewhere = accountId;
  for (const listener of listeners) listener();
}

/** Whether another tab has switched to another account than this one shows. */
export function useSwitchedElsewhere(): boolean {
  return useSyncExternalStore(listen, () => shown !== null && chosenElsewhere !== null && chosenElsewhere !== shown);
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
