import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import type { AccountSummary, GetAccountResponse, MerchantSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
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
import { ACCOUNTS_WORDS } from "./accounts-words.ts";

/** One account: what it has, what it is allowed, and the orders that change either. */
export function AccountPage() {
  const words = useWords(ACCOUNTS_WORDS);
  const { accountId } = useParams({ from: "/inside/operator/accounts/$accountId" });
  const { data, error, refetch } = useQuery(OperatorService.method.getAccount, { accountId });
  const account = data?.account;
  return (
    <Page
      title={account?.email ?? words.title}
      about={<Mono>{accountId}</Mono>}
      actions={
        <>
          <CopyButton text={accountId} what={words.accountId} />
          <LinkButton to="/operator/accounts">{words.backToList}</LinkButton>
        </>
      }
    >
      {error === null ? null : isNotFound(error) ? (
        <Empty title={words.missing} action={<LinkButton to="/operator/accounts">{words.backToList}</LinkButton>} />
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
  const words = useWords(ACCOUNTS_WORDS);
  const formats = useFormats();
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <Stat label={words.available}>
        <span data-testid="account-available">{formats.exactRupiah(balance?.available)}</span>
      </Stat>
      <Stat label={words.held} hint={words.heldHint}>
        {formats.exactRupiah(balance?.held)}
      </Stat>
      <Stat label={words.posted} hint={words.postedHint}>
        {formats.exactRupiah(balance?.posted)}
      </Stat>
      <Stat label={words.owed} hint={words.owedHint}>
        {formats.exactRupiah(balance?.owed)}
      </Stat>
    </div>
  );
}

function Summary({ data, account }: { readonly data: GetAccountResponse; readonly account: AccountSummary }) {
  const words = useWords(ACCOUNTS_WORDS);
  const formats = useFormats();
  const when = useWhen();
  return (
    <Card title={words.facts}>
      <Facts>
        <Fact name={words.opened}>{when(account.createdAt)}</Fact>
        <Fact name={words.keys}>{formats.count(account.workingKeys)}</Fact>
        <Fact name={words.lastUsage}>{data.lastUsageAt === undefined ? words.never : when(data.lastUsageAt)}</Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap gap-2">
        <LinkButton to="/operator/ledger" search={{ account: account.id, reason: "usage" }}>
          {words.usage}
        </LinkButton>
        <LinkButton to="/operator/ledger" search={{ account: account.id }}>
          {words.postings}
        </LinkButton>
        <LinkButton to="/operator/top-ups" search={{ account: account.id }}>
          {words.topUps}
        </LinkButton>
        <LinkButton to="/operator/transfers" search={{ account: account.id }}>
          {words.transfers}
        </LinkButton>
        <LinkButton to="/operator/log" search={{ subject: account.id }}>
          {words.actions}
        </LinkButton>
        <LinkButton to="/operator/security" search={{ account: account.id }}>
          {words.securityLog}
        </LinkButton>
      </div>
    </Card>
  );
}

function Merchants({ merchants }: { readonly merchants: readonly MerchantSummary[] }) {
  const words = useWords(ACCOUNTS_WORDS);
  const when = useWhen();
  const columns: readonly Column<MerchantSummary>[] = [
    { key: "id", head: words.merchantId, cell: ({ id }) => <Mono>{id}</Mono> },
    {
      key: "environment",
      head: words.environment,
      cell: ({ environment }) => <Environment name={environment} />,
    },
    {
      key: "opened",
      head: words.opened,
      wide: true,
      cell: ({ createdAt }) => <span className="text-muted">{when(createdAt)}</span>,
    },
  ];
  return (
    <Card title={words.merchants} flush>
      {merchants.length === 0 ? (
        <p className="px-4 pb-4 text-muted">{words.noMerchants}</p>
      ) : (
        <Table label={words.merchants} columns={columns} rows={merchants} keyOf={({ id }) => id} />
      )}
    </Card>
  );
}
