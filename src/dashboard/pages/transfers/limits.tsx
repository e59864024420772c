import { useQuery } from "@connectrpc/connect-query";
import type { TransferLimit } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { Failed } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { MERCHANT_WORDS } from "./merchant-words.ts";

/** What the merchant may order, where an operator has set a limit. */
export function Limits() {
  const words = useWords(MERCHANT_WORDS);
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
    { key: "currency", head: words.currency, cell: ({ currencyCode }) => currencyCode },
    { key: "used", head: words.usedToday, right: true, cell: (limit) => coins(limit.usedToday, limit, UNKNOWN) },
    { key: "daily", head: words.daily, right: true, cell: (limit) => coins(limit.daily, limit, words.unlimited) },
    {
      key: "single",
      head: words.perTransfer,
      right: true,
      wide: true,
      cell: (limit) => coins(limit.perTransfer, limit, words.unlimited),
    },
    {
      key: "approval",
      head: words.approvalAbove,
      right: true,
      wide: true,
      cell: (limit) => coins(limit.approvalAbove, limit, words.never),
    },
  ];
  return (
    <Card title={words.limits} flush>
      <Table label={words.limits} columns={columns} rows={limits} keyOf={({ currencyCode }) => currencyCode} />
    </Card>
  );
}
