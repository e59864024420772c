// The account's monthly statements, each as PDF and CSV.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { StatementService, type StatementMonth } from "#gen/saldo/billing/v1/statement_service_pb.ts";
import { transport } from "../../api/transport.ts";
import { useFormats } from "../../i18n/format.ts";
import { type Messages, useLanguage, useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { FileButton } from "../../components/file-button.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";

const MESSAGES = {
  id: {
    title: "Laporan bulanan",
    about: "Saldo awal dan akhir, pengisian saldo, dan pemakaian menurut model. Jumlahnya sama dengan mutasi saldo.",
    none: "Belum ada laporan",
    noneAbout: "Laporan ada sejak perubahan saldo yang pertama.",
    month: "Bulan",
    soFar: "Berjalan",
    file: (month: string, format: string) => `${format} laporan ${month}`,
    failed: "Berkas tidak bisa dibuat. Coba lagi.",
    all: "Tampilkan semua bulan",
    files: "Berkas",
  },
  en: {
    title: "Monthly statements",
    about: "Opening and closing balance, top-ups, and usage by model. The sums are those of the ledger.",
    none: "No statements yet",
    noneAbout: "There are statements from the first change of the balance on.",
    month: "Month",
    soFar: "So far",
    file: (month: string, format: string) => `${format} statement of ${month}`,
    failed: "The file could not be made. Try again.",
    all: "Show all months",
    files: "Files",
  },
} satisfies Messages<Record<string, string | ((...values: string[]) => string)>>;

/** Months that are shown at first. */
const FIRST_MONTHS = 6;
const FORMATS = ["pdf", "csv"] as const;
const client = createClient(StatementService, transport);

/** The months, newest first. */
export function StatementsCard() {
  const messages = useMessages(MESSAGES);
  const { data, error, refetch } = useQuery(StatementService.method.listStatements, {});
  const [isWhole, setWhole] = useState(false);
  const columns = useColumns();
  const months = data?.months;
  return (
    <Card title={messages.title} flush>
      <p className="px-4 pb-3 text-muted max-sm:px-3">{messages.about}</p>
      {error !== null && months === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {months === undefined && error === null ? <SkeletonLines lines={2} /> : null}
      {months?.length === 0 ? <Empty title={messages.none}>{messages.noneAbout}</Empty> : null}
      {months === undefined || months.length === 0 ? null : (
        <Table
          label={messages.title}
          columns={columns}
          rows={isWhole ? months : months.slice(0, FIRST_MONTHS)}
          keyOf={({ month }) => month}
        />
      )}
      {months === undefined || isWhole || months.length <= FIRST_MONTHS ? null : (
        <div className="p-4">
          <Button onClick={() => setWhole(true)}>{messages.all}</Button>
        </div>
      )}
    </Card>
  );
}

function useColumns(): readonly Column<StatementMonth>[] {
  const messages = useMessages(MESSAGES);
  const formats = useFormats();
  return [
    {
      key: "month",
      head: messages.month,
      cell: ({ month, complete }) => (
        <span className="inline-flex flex-wrap items-center gap-2">
          {formats.month(month)}
          {complete ? null : <Badge>{messages.soFar}</Badge>}
        </span>
      ),
    },
    {
      key: "files",
      head: messages.files,
      right: true,
      cell: ({ month }) => (
        <span className="inline-flex flex-wrap justify-end gap-2">
          {FORMATS.map((format) => (
            <StatementFile key={format} month={month} format={format} />
          ))}
        </span>
      ),
    },
  ];
}

function StatementFile({ month, format }: { readonly month: string; readonly format: (typeof FORMATS)[number] }) {
  const messages = useMessages(MESSAGES);
  const formats = useFormats();
  const { language } = useLanguage();
  const name = format.toUpperCase();
  return (
    <FileButton
      label={messages.file(formats.month(month), name)}
      failed={messages.failed}
      file={() => client.getStatementFile({ month, format, language })}
    >
      {name}
    </FileButton>
  );
}
