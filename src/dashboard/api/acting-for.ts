// The account that this page shows. Each call names it, so that a tab from before a switch in another tab changes nothing in the wrong
// account: the server refuses the call. Other tabs reload when one switches.

import type { Interceptor } from "@connectrpc/connect";

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
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("saldo-account");

/** Sets the account that the page shows. Null: not known, or an operator's page, whose calls name other accounts. */
export function showAccount(accountId: string | null): void {
  shown = accountId;
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

/** Reloads this tab when another one has switched to another account than it shows. */
export function followOtherTabs(): () => void {
  tabs?.addEventListener("message", follow);
  return () => tabs?.removeEventListener("message", follow);
}

function follow({ data }: MessageEvent<unknown>): void {
  if (shown !== null && data !== shown) window.location.assign("/");
}
