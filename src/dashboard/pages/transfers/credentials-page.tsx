// The key pairs of the merchant's own server. Several may work at once, so that one is replaced without an
// interruption.

import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import type { Credential } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { BasicHeaderCard } from "./basic-header-card.tsx";
import { CREDENTIAL_MESSAGES } from "./credential-messages.ts";
import { EnvironmentBadge } from "./environments.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { Refused } from "../../components/refused.tsx";

/** The pairs, creating one, and how they are sent. */
export function CredentialsPage() {
  return (
    <>
      <Credentials />
      <BasicHeaderCard />
    </>
  );
}

function Credentials() {
  const messages = useMessages(CREDENTIAL_MESSAGES);
  const { merchantId, showPair } = useMerchantHere();
  const refresh = useRefreshedCredentials();
  const [revoking, setRevoking] = useState<Credential | null>(null);
  const { data, error, refetch } = useQuery(MerchantService.method.listCredentials, { merchantId });
  const creation = useMutation(MerchantService.method.createCredential, {
    // The pair is kept only in the dialog that shows it.
    gcTime: 0,
    onSuccess: ({ apiKey, secretKey }) => {
      showPair({ apiKey, secretKey });
      refresh();
    },
  });
  const columns = useCredentialColumns(setRevoking);
  const create = (
    <Button
      variant="action"
      icon={<KeyRound aria-hidden />}
      busy={creation.isPending}
      onClick={() => creation.mutate({ merchantId })}
    >
      {messages.create}
    </Button>
  );
  return (
    <Card title={messages.title} flush aside={create}>
      <p className="px-4 pb-3 text-muted">{messages.about}</p>
      {creation.error === null ? null : (
        <div className="px-4 pb-4">
          <Refused error={creation.error} instead={{ limit_exceeded: messages.tooMany }} />
        </div>
      )}
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <SkeletonLines /> : null}
      {data?.credentials.length === 0 ? <Empty title={messages.none}>{messages.noneAbout}</Empty> : null}
      {data === undefined || data.credentials.length === 0 ? null : (
        <Table label={messages.title} columns={columns} rows={data.credentials} keyOf={({ id }) => id} />
      )}
      <RevokeDialog credential={revoking} onClose={() => setRevoking(null)} />
    </Card>
  );
}

function useCredentialColumns(revoke: (credential: Credential) => void): readonly Column<Credential>[] {
  const messages = useMessages(CREDENTIAL_MESSAGES);
  return [
    {
      key: "prefix",
      head: messages.apiKey,
      cell: ({ keyPrefix, createdAt }) => (
        <>
          <code className="font-mono text-[0.8125rem]">{keyPrefix}…</code>
          <span className="block text-xs text-muted">
            <When at={createdAt} />
          </span>
        </>
      ),
    },
    {
      key: "state",
      head: messages.state,
      cell: ({ revokedAt }) =>
        revokedAt === undefined ? (
          <Badge tone="good">{messages.works}</Badge>
        ) : (
          <>
            <Badge>{messages.revoked}</Badge>
            <span className="block text-xs text-muted">
              <When at={revokedAt} />
            </span>
          </>
        ),
    },
    {
      key: "revoke",
      head: <span className="sr-only">{messages.revoke}</span>,
      acts: true,
      cell: (credential) =>
        credential.revokedAt !== undefined ? null : (
          <Button aria-label={`${messages.revoke} ${credential.keyPrefix}`} onClick={() => revoke(credential)}>
            {messages.revoke}
          </Button>
        ),
    },
  ];
}

function RevokeDialog({
  credential,
  onClose,
}: {
  readonly credential: Credential | null;
  readonly onClose: () => void;
}) {
  const messages = useMessages(CREDENTIAL_MESSAGES);
  const notify = useNotify();
  const refresh = useRefreshedCredentials();
  const { merchantId, environment } = useMerchantHere();
  const { mutate, error, isPending, reset } = useMutation(MerchantService.method.revokeCredential, {
    onSuccess: () => {
      refresh();
      notify(messages.wasRevoked);
      onClose();
    },
  });
  const close = () => {
    reset();
    onClose();
  };
  return (
    <Dialog open={credential !== null} onClose={close} title={messages.revokeTitle} about={messages.revokeAbout}>
      <div className="flex flex-wrap items-center gap-2">
        <code className="font-mono">{credential?.keyPrefix}…</code>
        <EnvironmentBadge environment={environment} />
      </div>
      {error === null ? null : <Refused error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>{messages.cancel}</Button>
        <Button
          variant="danger"
          busy={isPending}
          onClick={() => mutate({ merchantId, credentialId: credential?.id ?? "" })}
        >
          {messages.revoke}
        </Button>
      </div>
    </Dialog>
  );
}

function useRefreshedCredentials(): () => void {
  const queries = useQueryClient();
  return () =>
    void queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: MerchantService.method.listCredentials, cardinality: "finite" }),
    });
}
