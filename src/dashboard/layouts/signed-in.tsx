// Everything behind signing in: asks who is there, and sends whoever is nobody to the page for it.

import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { AccountsService, type GetMeResponse } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Role } from "#gen/saldo/accounts/v1/person_pb.ts";
import { isSignedOut, onSignedOut } from "../api/transport.ts";
import { Failed } from "../components/states.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { Inside, type Reader } from "./inside.tsx";
import { rememberSignedIn } from "./was-signed-in.ts";

/**
 * The frame for the person who is signed in. It stays when asking who that is fails: what stands in it may be a secret that is
 * shown once, or half a form.
 */
export function SignedIn() {
  useWayToSignIn();
  const { data, error, refetch } = useQuery(AccountsService.method.getMe, {});
  const isKnown = data !== undefined;
  useEffect(() => {
    if (isKnown) rememberSignedIn(true);
  }, [isKnown]);
  const isUnknown = data === undefined && error !== null && !isSignedOut(error);
  // The page asks for its own things meanwhile: waiting for this answer first would make everything later by a round trip.
  return (
    <>
      <Inside
        reader={readerOf(data)}
        notice={isUnknown ? <Failed error={error} retry={() => void refetch()} /> : undefined}
      />
      <ConfirmDialog />
    </>
  );
}

/** Leaves for the page for signing in once nobody is signed in any more, and from there back here. */
function useWayToSignIn(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let isLeaving = false;
    return onSignedOut(() => {
      // Every call that is under way is refused; the first one leaves, and the others find the address changed already.
      if (isLeaving) return;
      isLeaving = true;
      rememberSignedIn(false);
      const next = `${window.location.pathname}${window.location.search}`;
      void navigate({ to: "/sign-in", search: next === "/" ? {} : { next } });
    });
  }, [navigate]);
}

/** The person as the frame shows him. Undefined: the answer is on its way. */
export function readerOf(me: GetMeResponse | undefined): Reader {
  return {
    email: me?.person?.email ?? "",
    isOperator: me?.person?.roles.includes(Role.OPERATOR) === true,
    isDemo: me?.isDemo === true,
  };
}
