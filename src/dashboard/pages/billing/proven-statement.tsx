// The statement with its proof: up to which day the books are sealed, and the file that shows it.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { FileCheck2 } from "lucide-react";
import { useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { transport } from "../../api/transport.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useNotify } from "../../components/notices.tsx";
import { saveFile } from "../../components/save-file.ts";
import { useFormats } from "../../i18n/format.ts";
import { type Messages, useMessages } from "../../i18n/language.tsx";
import { useMay } from "../../layouts/role.ts";

const MESSAGES = {
  id: {
    title: "Rekening koran dengan bukti",
    sealed: (day: string) => `Terverifikasi sampai ${day}`,
    none: "Belum ada hari yang disegel. Setiap hari disegel satu jam setelah berakhir.",
    about: "Berkas ini berisi setiap mutasi beserta buktinya. Anda bisa menghitung ulang semuanya tanpa koneksi.",
    how: "Cara memeriksanya",
    download: "Unduh rekening koran",
    failed: "Rekening koran tidak bisa dibuat",
    root: "Akar",
    key: "Kunci publik",
  },
  en: {
    title: "Statement with proof",
    sealed: (day: string) => `Verified up to ${day}`,
    none: "No day is sealed yet. Each day is sealed an hour after it ends.",
    about: "The file has every change of your balance and its proof. You can recompute all of it offline.",
    how: "How to verify it",
    download: "Download statement",
    failed: "The statement could not be made",
    root: "Root",
    key: "Public key",
  },
} satisfies Messages<Record<string, string | ((day: string) => string)>>;

const billing = createClient(BillingService, transport);

/** Shows the last sealed day and offers the file to those who may read requests. Without an answer there is nothing to offer. */
export function ProvenStatement() {
  const messages = useMessages(MESSAGES);
  const formats = useFormats();
  const { data } = useQuery(BillingService.method.getSeal, {});
  const mayRead = useMay("read");
  if (data === undefined || !mayRead) return null;
  const isSealed = data.sealedThrough !== "";
  return (
    <Card title={messages.title} aside={isSealed ? <DownloadStatement day={data.sealedThrough} /> : null}>
      <p className="font-medium">{isSealed ? messages.sealed(formats.day(data.sealedThrough)) : messages.none}</p>
      <p className="text-sm text-muted">
        {messages.about}{" "}
        <Link to="/docs/$page" params={{ page: "billing" }} className="underline">
          {messages.how}
        </Link>
      </p>
      {isSealed ? (
        <p className="font-mono text-xs break-all text-muted">
          {messages.root} {data.root}
          {data.publicKeys.map((key) => (
            <span key={key} className="block">
              {messages.key} {key}
            </span>
          ))}
        </p>
      ) : null}
    </Card>
  );
}

function DownloadStatement({ day }: { readonly day: string }) {
  const messages = useMessages(MESSAGES);
  const notify = useNotify();
  const [isBusy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const parts: BlobPart[] = [];
      for await (const { lines } of billing.exportStatement({}, { timeoutMs: 0 })) parts.push(new Uint8Array(lines));
      saveFile(new Blob(parts, { type: "application/jsonl" }), `saldo-statement-${day}.jsonl`);
    } catch {
      notify(messages.failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={<FileCheck2 aria-hidden />} busy={isBusy} onClick={() => void download()}>
      {messages.download}
    </Button>
  );
}
