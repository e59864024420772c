import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { TransferService } from "#gen/saldo/operator/v1/transfer_service_pb.ts";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import type { AccountTransfer } from "#gen/saldo/operator/v1/transfer_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Card } from "../../../components/card.tsx";
import { TextField } from "../../../components/field.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { networkName } from "../../transfers/coins.ts";
import { ENVIRONMENTS, isEnvironmentName } from "../../transfers/environment-names.ts";
import { ENVIRONMENT_OF } from "../../transfers/environments.tsx";
import { MERCHANT_MESSAGES } from "../../transfers/merchant-messages.ts";
import { isOpen, isStatus, STATUSES } from "../../transfers/transfer-status.tsx";
import { useChangeAddress } from "../components/address.ts";
import { AccountFilter, AccountName, behindAccount, NoSuchAccount } from "../components/account-name.tsx";
import { useNamedAccount } from "../components/account-names.ts";
import { ChoiceFilter, SwitchFilter } from "../components/filter-fields.tsx";
import { Filters } from "../components/filters.tsx";
import { later } from "../components/later.tsx";
import { Rows } from "../components/rows.tsx";
import { TransferBadges } from "./transfer-badges.tsx";
import { TRANSFERS_MESSAGES } from "./transfers-messages.ts";
import { WalletsCard } from "./wallets-card.tsx";

const PAGE_SIZE = 50;
const LONGEST_NAME = 128;
/** How often the list is fetched again while one of its transfers is under way. */
const FOLLOWED_EVERY_MS = 5_000;

const TransferSheet = later(() => import("./transfer-sheet.tsx"), "TransferSheet");

/** The environment of the address. One that there is not means both. */
function environmentOf(name = ""): Environment {
  return isEnvironmentName(name) ? ENVIRONMENT_OF[name] : Environment.UNSPECIFIED;
}

/** The transfers of all merchants, including those that wait for an operator, and the wallets that pay them. */
export function TransfersPage() {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/transfers" });
  const account = useNamedAccount(search.account);
  const query = useInfiniteQuery(
    TransferService.method.listTransfers,
    {
      accountId: account.accountId,
      environment: environmentOf(search.environment),
      status: isStatus(search.status) ? search.status : "",
      onlyAwaitingApproval: search.approval !== undefined,
      name: search.name ?? "",
      pageSize: PAGE_SIZE,
      pageToken: "",
    },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: account.isReady,
      refetchInterval: ({ state }) =>
        state.data?.pages.some((page) => page.transfers.some(isUnderWay)) === true ? FOLLOWED_EVERY_MS : false,
    },
  );
  return (
    <Page title={messages.title} about={messages.about}>
      <TransferFilters />
      <Card flush title={messages.list}>
        <Rows
          {...behindAccount(
            account,
            query,
            query.data?.pages.flatMap((page) => page.transfers),
          )}
          label={messages.list}
          columns={useColumns()}
          keyOf={({ transfer }) => transfer?.id ?? ""}
          onOpen={({ transfer }) => change({ transfer: transfer?.id })}
          empty={
            account.isUnknown ? <NoSuchAccount /> : <Empty title={messages.nothing}>{messages.nothingAbout}</Empty>
          }
        />
      </Card>
      <WalletsCard />
      <TransferSheet
        given={
          search.transfer === undefined
            ? null
            : { transferId: search.transfer, onClose: () => change({ transfer: undefined }) }
        }
      />
    </Page>
  );
}

/** Transfers that proceed by themselves; those that wait for an operator do not. */
function isUnderWay({ transfer, awaitsApproval }: AccountTransfer): boolean {
  return transfer !== undefined && isOpen(transfer.status) && !awaitsApproval;
}

function TransferFilters() {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const names = useMessages(MERCHANT_MESSAGES);
  const { name, account, environment, status, approval } = useSearch({ from: "/inside/operator/transfers" });
  return (
    <Filters values={{ name, account, environment, status, approval }}>
      <TextField name="name" label={messages.name} maxLength={LONGEST_NAME} className="w-full sm:w-80" />
      <AccountFilter />
      <ChoiceFilter
        name="environment"
        label={messages.environment}
        choices={ENVIRONMENTS.map((each) => [each, names[each]])}
      />
      <ChoiceFilter name="status" label={messages.status} choices={STATUSES.map((each) => [each, names[each]])} />
      <SwitchFilter name="approval">{messages.onlyApproval}</SwitchFilter>
    </Filters>
  );
}

function useColumns(): readonly Column<AccountTransfer>[] {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const formats = useFormats();
  return [
    {
      key: "transfer",
      head: messages.transfer,
      cell: ({ transfer, awaitsApproval }) =>
        transfer === undefined ? null : (
          <>
            <span className="block font-mono text-[0.8125rem] break-all">{transfer.externalId}</span>
            <span className="block text-xs text-muted">{formats.time(new Date(transfer.createdAt))}</span>
            {/* On a narrow page, in place of columns of their own. */}
            <span className="mt-1 block md:hidden">
              <TransferBadges transfer={transfer} awaitsApproval={awaitsApproval} />
            </span>
          </>
        ),
    },
    { key: "owner", head: messages.owner, wide: true, cell: ({ accountId }) => <AccountName id={accountId} /> },
    {
      key: "received",
      head: messages.received,
      right: true,
      cell: ({ transfer }) =>
        transfer === undefined ? null : (
          <>
            <span className="block">{formats.coins(transfer.receivedAmount, transfer.currencyCode)}</span>
            <span className="block text-xs text-muted">{networkName(transfer.network)}</span>
          </>
        ),
    },
    {
      key: "status",
      head: messages.status,
      wide: true,
      cell: ({ transfer, awaitsApproval }) =>
        transfer === undefined ? null : <TransferBadges transfer={transfer} awaitsApproval={awaitsApproval} />,
    },
  ];
}
