// Publishing a draft: the second confirmation, with its effects once more.

import { useState } from "react";
import { type CatalogChange, CatalogChangeKind, CatalogEntryKind } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { factsOf } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { CommandDialog, ReasonField, useCommand } from "../components/command.tsx";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";
import type { Draft } from "./draft.ts";

const MOST_NAMED = 8;

type CatalogPublishProps = {
  readonly draft: Draft;
  readonly changes: readonly CatalogChange[];
  /** Another operator published first: the difference is fetched again and shows that. */
  readonly onConflict: () => Promise<void>;
  readonly onPublished: () => Promise<void>;
};

/** The button and its dialog. */
export function CatalogPublish({ draft, changes, onConflict, onPublished }: CatalogPublishProps) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const publish = useCommand(CatalogService.method.publishCatalog);
  const [isAsked, setAsked] = useState(false);
  const [reason, setReason] = useState("");
  const send = async () => {
    try {
      const answer = await publish.mutateAsync({
        draft: { content: { case: "yaml", value: draft.yaml } },
        baseVersion: draft.base,
        reason,
      });
      const version = `${messages.version} ${formats.count(answer.version)}`;
      notify(answer.changes.length === 0 ? messages.unchanged : messages.published, version);
      await onPublished();
    } catch (error) {
      if (!isConflict(error)) throw error;
      await onConflict();
      notify(messages.conflict);
    }
  };
  const count = (kind: CatalogChangeKind) => changes.filter(({ change }) => change === kind).length;
  return (
    <>
      <Button variant="action" onClick={() => setAsked(true)}>
        {messages.publish}
      </Button>
      <CommandDialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title={messages.publishTitle}
        about={messages.publishAbout}
        confirm={messages.confirmPublish}
        onCommand={send}
      >
        <Facts>
          <Fact name={messages.added}>{formats.count(count(CatalogChangeKind.ADDED))}</Fact>
          <Fact name={messages.changed}>{formats.count(count(CatalogChangeKind.CHANGED))}</Fact>
          <Fact name={messages.retired}>{formats.count(count(CatalogChangeKind.RETIRED))}</Fact>
        </Facts>
        <Retired changes={changes} />
        <ReasonField value={reason} onChange={setReason} />
      </CommandDialog>
    </>
  );
}

function Retired({ changes }: { readonly changes: readonly CatalogChange[] }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  const retired = changes.filter(
    ({ kind, change }) => kind === CatalogEntryKind.MODEL && change === CatalogChangeKind.RETIRED,
  );
  if (retired.length === 0) return null;
  return (
    <div className="rounded-lg bg-warn-soft p-3 text-warn">
      <p className="font-medium">{messages.retiredWarning}</p>
      <ul className="mt-1">
        {retired.slice(0, MOST_NAMED).map(({ id }) => (
          <li key={id}>
            <Mono>{id}</Mono>
          </li>
        ))}
        {retired.length > MOST_NAMED ? <li>+ {formats.count(retired.length - MOST_NAMED)}</li> : null}
      </ul>
    </div>
  );
}

function isConflict(error: unknown): boolean {
  return factsOf(error)?.details.some(({ rule }) => rule === "catalog.base_version") ?? false;
}
