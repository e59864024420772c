// The parent of all pages that need a session: reads who is signed in, and redirects to the page for signing in without
// a session. Of these pages strangers see only "/", which welcomes them.

import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { AccountsService, type GetMeResponse } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Role } from "#gen/saldo/accounts/v1/person_pb.ts";
import { followOtherTabs, showAccount } from "../api/acting-for.ts";
import { isSignedOut, onSignedOut } from "../api/transport.ts";
import { Failed } from "../components/states.tsx";
import { ConfirmHost } from "./confirm-host.tsx";
import { Inside, type Reader } from "./inside.tsx";
import { PublicFrame } from "./public-frame.tsx";
import { isStranger } from "./stranger.ts";
import { rememberSignedIn } from "./was-signed-in.ts";

/** The frame of a signed-in person. Of strangers only those at "/" get here. */
export function SignedIn() {
  return isStranger() ? <PublicFrame /> : <Person />;
}

/**
 * The frame for the signed-in person. It stays when reading the person fails: it may contain a secret that is shown
 * once, or a half-filled form.
 */
function Person() {
  useWayToSignIn();
  const { data, error, refetch } = useQuery(AccountsService.method.getMe, {});
  useShownAccount(data);
  const isKnown = data !== undefined;
  useEffect(() => {
    if (isKnown) rememberSignedIn(true);
  }, [isKnown]);
  const isUnknown = data === undefined && error !== null && !isSignedOut(error);
  // The page fetches its own data meanwhile: waiting for this answer first would delay it by a round trip.
  return (
    <>
      <Inside
        reader={readerOf(data)}
        notice={isUnknown ? <Failed error={error} retry={() => void refetch()} /> : undefined}
      />
      <ConfirmHost />
    </>
  );
}

/** From the first answer on, calls name the account that it has. Operators' calls name the accounts of others. */
function useShownAccount(me: GetMeResponse | undefined): void {
  const { isOperator, role } = readerOf(me);
  const accountId = me?.account?.accountId;
  useEffect(() => {
    showAccount(isOperator || role === undefined ? null : (accountId ?? null));
    return followOtherTabs();
  }, [accountId, isOperator, role]);
}

/** Opens the page for signing in once the session has ended; signing in leads back here. */
function useWayToSignIn(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let isLeaving = false;
    return onSignedOut(() => {
      // Every running call is refused; the first refusal redirects, and the others find the address already changed.
      if (isLeaving) return;
      isLeaving = true;
      rememberSignedIn(false);
      const next = `${window.location.pathname}${window.location.search}`;
      void navigate({ to: "/sign-in", search: next === "/" ? {} : { next } });
    });
  }, [navigate]);
}

/** The person as the frame shows them. Undefined: not loaded yet. */
export function readerOf(me: GetMeResponse | undefined): Reader {
  return {
    email: me?.person?.email ?? "",
    isOperator: me?.person?.roles.includes(Role.OPERATOR) === true,
    role: me?.account?.role,
  };
}
