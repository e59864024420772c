// Another version was published after a draft was begun: its operator, its time, and the next step.

import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { GitMerge } from "lucide-react";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { useWhen } from "../components/amounts.ts";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";

/** At most so many versions are listed; the others are in the history. */
const MOST_NAMED = 10;

type CatalogConflictProps = { readonly base: number; readonly version: number; readonly onRebase: () => void };

/** Lists each version between the draft's and the live one, and bases the draft on the live one after a review. */
export function CatalogConflict({ base, version, onRebase }: CatalogConflictProps) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  const { data } = useQuery(
    CatalogService.method.listCatalogVersions,
    { pageSize: MOST_NAMED },
    { staleTime: 0, refetchOnMount: "always" },
  );
  const since = data?.versions.filter(({ number }) => number > base && number <= version) ?? [];
  return (
    <div role="alert" className="flex flex-col items-start gap-3 rounded-xl bg-warn-soft p-4 text-warn">
      <p className="flex items-center gap-2 font-medium">
        <GitMerge className="size-4 shrink-0" aria-hidden />
        {messages.conflict}
      </p>
      <ul className="flex flex-col gap-1">
        {since.map(({ number, operator, publishedAt, reason }) => (
          <li key={number}>
            <Link
              to="/operator/catalog"
              search={{ view: "history", version: String(number) }}
              className="font-medium underline"
            >
              {messages.version} {formats.count(number)}
            </Link>{" "}
            {messages.publishedBy} <span className="break-all">{operator}</span>, {when(publishedAt)}
            {reason === "" ? null : ` · ${reason}`}
          </li>
        ))}
      </ul>
      <p className="max-w-prose">{messages.conflictAbout}</p>
      <Button onClick={onRebase}>
        {messages.rebase} {formats.count(version)}
      </Button>
    </div>
  );
}
