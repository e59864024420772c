import { useQuery } from "@connectrpc/connect-query";
import type { TransferLimit } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { Failed } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";

/** The merchant's limits, where an operator has set any. */
export function Limits() {
  const messages = useMessages(MERCHANT_MESSAGES);
  const formats = useFormats();
  const { merchantId } = useMerchantHere();
  const { data, error, refetch } = useQuery(MerchantService.method.listLimits, { merchantId });
  if (error !== null && data === undefined) return <Failed error={error} retry={() => void refetch()} />;
  const limits = data?.limits.filter(
    ({ perTransfer, daily, approvalAbove }) => (perTransfer ?? daily ?? approvalAbove) !== undefined,
  );
  if (limits === undefined || limits.length === 0) return null;
  const coins = (amount: string | undefined, { currencyCode }: TransferLimit, otherwise: string) =>
    amount === undefined ? otherwise : formats.coins(amount, currencyCode);
  const columns: readonly Column<TransferLimit>[] = [
    { key: "currency", head: messages.currency, cell: ({ currencyCode }) => currencyCode },
    { key: "used", head: messages.usedToday, right: true, cell: (limit) => coins(limit.usedToday, limit, UNKNOWN) },
    { key: "daily", head: messages.daily, right: true, cell: (limit) => coins(limit.daily, limit, messages.unlimited) },
    {
      key: "single",
      head: messages.perTransfer,
      right: true,
      wide: true,
      cell: (limit) => coins(limit.perTransfer, limit, messages.unlimited),
    },
    {
      key: "approval",
      head: messages.approvalAbove,
      right: true,
      wide: true,
      cell: (limit) => coins(limit.approvalAbove, limit, messages.never),
    },
  ];
  return (
    <Card title={messages.limits} flush>
      <Table label={messages.limits} columns={columns} rows={limits} keyOf={({ currencyCode }) => currencyCode} />
    </Card>
  );
}
