import { ExternalLink } from "lucide-react";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { explorerLink } from "./coins.ts";
import { TRANSFER_MESSAGES } from "./transfer-messages.ts";

/** A hash or an address in full; in production with a link to a public explorer. The sandbox's chain has none. */
export function ChainId({
  of: { environment, network },
  what,
  id,
}: {
  /** The transfer that it belongs to: it determines the chain. */
  readonly of: Pick<Transfer, "environment" | "network">;
  readonly what: "transaction" | "address";
  readonly id: string;
}) {
  const messages = useMessages(TRANSFER_MESSAGES);
  const link = environment === Environment.PRODUCTION ? explorerLink(network, what, id) : null;
  const text = <code className="font-mono text-[0.8125rem] break-all">{id}</code>;
  if (link === null) return text;
  return (
    <a href={link} target="_blank" rel="noreferrer" className="underline underline-offset-2">
      {text} <ExternalLink className="inline size-3.5" aria-hidden />
      <span className="sr-only">{messages.explorer}</span>
    </a>
  );
}
