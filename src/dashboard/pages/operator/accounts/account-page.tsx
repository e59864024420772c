import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import type { AccountSummary, GetAccountResponse } from "#gen/saldo/operator/v1/account_pb.ts";
import type { MerchantSummary } from "#gen/saldo/operator/v1/merchant_pb.ts";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { LinkButton } from "../../../components/button.tsx";
import { Card, Stat } from "../../../components/card.tsx";
import { CopyButton } from "../../../components/copy.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { isNotFound } from "../../../api/transport.ts";
import { useWhen } from "../components/amounts.ts";
import { Environment } from "../components/environment.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { AccountAccess } from "./account-access.tsx";
import { AccountMoney } from "./account-money.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";

/** One account: its balance, its access, and the commands that change either. */
export function AccountPage() {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const { accountId } = useParams({ from: "/inside/operator/accounts/$accountId" });
  const { data, error, refetch } = useQuery(AccountService.method.getAccount, { accountId });
  const account = data?.account;
  return (
    <Page
      title={account?.email ?? messages.title}
      about={<Mono>{accountId}</Mono>}
      actions={
        <>
          <CopyButton text={accountId} what={messages.accountId} />
          <LinkButton to="/operator/accounts">{messages.backToList}</LinkButton>
        </>
      }
    >
      {error === null ? null : isNotFound(error) ? (
        <Empty
          title={messages.missing}
          action={<LinkButton to="/operator/accounts">{messages.backToList}</LinkButton>}
        />
      ) : (
        <Failed error={error} retry={() => void refetch()} />
      )}
      {data === undefined && error === null ? <SkeletonLines lines={8} /> : null}
      {data === undefined || account === undefined ? null : <Account data={data} account={account} />}
    </Page>
  );
}

function Account({ data, account }: { readonly data: GetAccountResponse; readonly account: AccountSummary }) {
  return (
    <>
      <Balances account={account} />
      <AccountMoney account={account} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <AccountAccess account={account} limits={data.limits} />
        <Summary data={data} account={account} />
      </div>
      <Merchants merchants={data.merchants} />
    </>
  );
}

function Balances({ account: { balance } }: { readonly account: AccountSummary }) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const formats = useFormats();
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <Stat label={messages.available}>
        <span data-testid="account-available">{formats.exactRupiah(balance?.available)}</span>
      </Stat>
      <Stat label={messages.held} hint={messages.heldHint}>
        {formats.exactRupiah(balance?.held)}
      </Stat>
      <Stat label={messages.posted} hint={messages.postedHint}>
        {formats.exactRupiah(balance?.posted)}
      </Stat>
      <Stat label={messages.owed} hint={messages.owedHint}>
        {formats.exactRupiah(balance?.owed)}
      </Stat>
    </div>
  );
}

function Summary({ data, account }: { readonly data: GetAccountResponse; readonly account: AccountSummary }) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  return (
    <Card title={messages.facts}>
      <Facts>
        <Fact name={messages.opened}>{when(account.createdAt)}</Fact>
        <Fact name={messages.keys}>{formats.count(account.workingKeys)}</Fact>
        <Fact name={messages.lastUsage}>
          {data.lastUsageAt === undefined ? messages.never : when(data.lastUsageAt)}
        </Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap gap-2">
        <LinkButton to="/operator/ledger" search={{ account: account.id, reason: "usage" }}>
          {messages.usage}
        </LinkButton>
        <LinkButton to="/operator/ledger" search={{ account: account.id }}>
          {messages.postings}
        </LinkButton>
        <LinkButton to="/operator/top-ups" search={{ account: account.id }}>
          {messages.topUps}
        </LinkButton>
        <LinkButton to="/operator/transfers" search={{ account: account.id }}>
          {messages.transfers}
        </LinkButton>
        <LinkButton to="/operator/log" search={{ subject: account.id }}>
          {messages.actions}
        </LinkButton>
        <LinkButton to="/operator/security" search={{ account: account.id }}>
          {messages.securityLog}
        </LinkButton>
      </div>
    </Card>
  );
}

function Merchants({ merchants }: { readonly merchants: readonly MerchantSummary[] }) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const when = useWhen();
  const columns: readonly Column<MerchantSummary>[] = [
    { key: "id", head: messages.merchantId, cell: ({ id }) => <Mono>{id}</Mono> },
    {
      key: "environment",
      head: messages.environment,
      cell: ({ environment }) => <Environment environment={environment} />,
    },
    {
      key: "opened",
      head: messages.opened,
      wide: true,
      cell: ({ createdAt }) => <span className="text-muted">{when(createdAt)}</span>,
    },
  ];
  return (
    <Card title={messages.merchants} flush>
      {merchants.length === 0 ? (
        <p className="px-4 pb-4 text-muted">{messages.noMerchants}</p>
      ) : (
        <Table label={messages.merchants} columns={columns} rows={merchants} keyOf={({ id }) => id} />
      )}
    </Card>
  );
}
