// Everything behind signing in: asks who is there, and sends whoever is nobody to the page for it.

import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { AccountsService, type GetMeResponse } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Role } from "#gen/saldo/accounts/v1/person_pb.ts";
import { onSignedOut } from "../api/transport.ts";
import { Failed } from "../parts/states.tsx";
import { Inside, type Reader } from "./inside.tsx";

/** The frame for the person who is signed in. */
export function SignedIn() {
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(AccountsService.method.getMe, {});
  useEffect(
    () =>
      onSignedOut(() => {
        const next = `${window.location.pathname}${window.location.search}`;
        void navigate({ to: "/sign-in", search: next === "/" ? {} : { next } });
      }),
    [navigate],
  );
  if (error !== null) return <Failed error={error} retry={() => void refetch()} />;
  // The page asks for its own things meanwhile: waiting for this answer first would make everything later by a round trip.
  return <Inside reader={readerOf(data)} />;
}

/** The person as the frame shows him. Undefined: the answer is on its way. */
export function readerOf(me: GetMeResponse | undefined): Reader {
  return {
    email: me?.person?.email ?? "",
    isOperator: me?.person?.roles.includes(Role.OPERATOR) === true,
    isDemo: me?.isDemo === true,
  };
}
