// The person's sessions, and ending them.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import type { Session } from "#gen/saldo/accounts/v1/person_pb.ts";
import { isSessionOver, signOutEverywhere } from "../../api/sign-in.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { rememberSignedIn } from "../../layouts/was-signed-in.ts";
import { SignInProblem } from "../sign-in/sign-in-form.tsx";
import { browserOf } from "./browser-name.ts";
import { NotSaved } from "./not-saved.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** Every session, with this one marked. */
export function SessionsCard() {
  const messages = useMessages(SETTINGS_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const { data, error, refetch } = useQuery(AccountsService.method.listSessions, {});
  const ending = useMutation(AccountsService.method.revokeSession, {
    onSuccess: () => {
      notify(messages.ended);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: AccountsService.method.listSessions, cardinality: "finite" }),
      });
    },
  });
  const columns = useSessionColumns({
    end: (sessionId) => ending.mutate({ sessionId }),
    busyId: ending.isPending ? (ending.variables.sessionId ?? null) : null,
  });
  return (
    <Card
      title={messages.sessions}
      flush
      aside={
        <Button variant="danger" onClick={() => setAsking(true)}>
          {messages.endEverywhere}
        </Button>
      }
    >
      {error !== null && data === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {data === undefined && error === null ? <SkeletonLines /> : null}
      <NotSaved error={ending.error} />
      {data === undefined ? null : (
        <Table label={messages.sessions} columns={columns} rows={data.sessions} keyOf={({ id }) => id} />
      )}
      <EverywhereDialog open={isAsking} onClose={() => setAsking(false)} />
    </Card>
  );
}

function useSessionColumns({
  end,
  busyId,
}: {
  readonly end: (sessionId: string) => void;
  readonly busyId: string | null;
}): readonly Column<Session>[] {
  const messages = useMessages(SETTINGS_MESSAGES);
  const formats = useFormats();
  const placeOf = (userAgent: string): string => {
    const known = browserOf(userAgent);
    if (known !== null) return `${known.browser} ${messages.on} ${known.system}`;
    return userAgent === "" ? messages.unknownPlace : userAgent;
  };
  return [
    {
      key: "place",
      head: messages.place,
      cell: ({ userAgent, address }) => (
        <>
          <span className="line-clamp-2 break-all" title={userAgent}>
            {placeOf(userAgent)}
          </span>
          <span className="block font-mono text-xs break-all text-muted">{address}</span>
        </>
      ),
    },
    {
      key: "since",
      head: messages.since,
      wide: true,
      cell: ({ createdAt }) => (createdAt === undefined ? UNKNOWN : formats.time(timestampDate(createdAt))),
    },
    {
      key: "seen",
      head: messages.lastSeen,
      wide: true,
      cell: ({ lastSeenAt }) => (lastSeenAt === undefined ? UNKNOWN : formats.date(timestampDate(lastSeenAt))),
    },
    {
      key: "end",
      head: <span className="sr-only">{messages.end}</span>,
      acts: true,
      cell: ({ id, isCurrent }) =>
        isCurrent ? (
          <Badge tone="good">{messages.here}</Badge>
        ) : (
          <Button busy={busyId === id} onClick={() => end(id)}>
            {messages.end}
          </Button>
        ),
    },
  ];
}

function EverywhereDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const leave = async () => {
    setBusy(true);
    setError(null);
    try {
      await signOutEverywhere();
    } catch (refusal) {
      if (!isSessionOver(refusal)) {
        setError(refusal);
        setBusy(false);
        return;
      }
    }
    rememberSignedIn(false);
    // A full load, so that no data of the person stays in memory.
    window.location.assign("/sign-in");
  };
  return (
    <Dialog open={open} onClose={onClose} title={messages.endEverywhereTitle} about={messages.endEverywhereAbout}>
      {error === null ? null : <SignInProblem error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{messages.cancel}</Button>
        <Button variant="danger" busy={isBusy} onClick={() => void leave()}>
          {messages.endEverywhere}
        </Button>
      </div>
    </Dialog>
  );
}
