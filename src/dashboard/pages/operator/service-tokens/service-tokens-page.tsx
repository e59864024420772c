import { useQuery } from "@connectrpc/connect-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import type { CreateServiceTokenResponse } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import type { ServiceToken } from "#gen/saldo/accounts/v1/person_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../../components/states.tsx";
import { Table } from "../../../components/table.tsx";
import { CreateTokenDialog } from "./create-token-dialog.tsx";
import { RevokeTokenDialog } from "./revoke-token-dialog.tsx";
import { TOKENS_MESSAGES } from "./service-tokens-messages.ts";
import { useTokenColumns } from "./token-columns.tsx";
import { TokenSecretDialog } from "./token-secret-dialog.tsx";
import { workingFirst } from "./token-state.ts";

/** The tokens of all internal services; creates and revokes them. */
export function ServiceTokensPage() {
  const messages = useMessages(TOKENS_MESSAGES);
  const { data, error, refetch } = useQuery(AccountsService.method.listServiceTokens, {});
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<CreateServiceTokenResponse | null>(null);
  const [revoking, setRevoking] = useState<ServiceToken | null>(null);
  const columns = useTokenColumns(setRevoking);
  const tokens = data === undefined ? undefined : workingFirst(data.tokens, Date.now());
  const create = (
    <Button variant="action" icon={<KeyRound aria-hidden />} onClick={() => setCreating(true)}>
      {messages.create}
    </Button>
  );
  return (
    <Page title={messages.title} about={messages.about} actions={tokens?.length === 0 ? null : create}>
      <Card flush>
        {error === null ? null : (
          <div className="p-4">
            <Failed error={error} retry={() => void refetch()} />
          </div>
        )}
        {tokens === undefined && error === null ? <SkeletonLines /> : null}
        {tokens?.length === 0 ? (
          <Empty title={messages.empty} action={create}>
            {messages.emptyAbout}
          </Empty>
        ) : null}
        {tokens === undefined || tokens.length === 0 ? null : (
          <Table label={messages.list} columns={columns} rows={tokens} keyOf={({ id }) => id} />
        )}
      </Card>
      {isCreating ? <CreateTokenDialog onMade={setMade} onClose={() => setCreating(false)} /> : null}
      {made === null ? null : <TokenSecretDialog made={made} onClose={() => setMade(null)} />}
      {revoking === null ? null : <RevokeTokenDialog token={revoking} onClose={() => setRevoking(null)} />}
    </Page>
  );
}
