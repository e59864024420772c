// The draft: edited, compared with the live catalog, and published against the version it was made from.

import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { GetCatalogResponse, PreviewCatalogResponse } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { patientTransport } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { TextArea } from "../../../components/field.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { Empty } from "../../../components/states.tsx";
import { CommandDialog } from "../components/command.tsx";
import { Refused } from "../components/refused.tsx";
import { CatalogConflict } from "./catalog-conflict.tsx";
import { CatalogDifference } from "./catalog-difference.tsx";
import { CatalogWarnings } from "./catalog-warnings.tsx";
import { CatalogPublish } from "./catalog-publish.tsx";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";
import { type Draft, useDraft } from "./draft.ts";

const LONGEST_DRAFT = 4_000_000;
const CATALOG_KEY = createConnectQueryKey({ schema: CatalogService.method.getCatalog, cardinality: "finite" });

/** A difference and the draft's text that it was made from. */
type Compared = { readonly of: string; readonly preview: PreviewCatalogResponse };

/** The editor. Without a draft it shows the live catalog; the first change makes it a draft of that version. */
export function CatalogDraft({ live }: { readonly live: GetCatalogResponse }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  const queries = useQueryClient();
  const [kept, setKept] = useDraft();
  const draft = kept ?? { yaml: live.yaml, base: live.version };
  const [compared, setCompared] = useState<Compared | null>(null);
  const preview = useMutation(CatalogService.method.previewCatalog, { transport: patientTransport });
  const compare = async (yaml: string) => {
    const answer = await preview.mutateAsync({ draft: { content: { case: "yaml", value: yaml } } });
    setCompared({ of: yaml, preview: answer });
    // Another version was published: the version that the page shows as live is not live any more.
    if (answer.version !== live.version) void queries.invalidateQueries();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A refusal is shown below the button; the mutation keeps it.
    compare(draft.yaml).catch(() => setCompared(null));
  };
  const madeFrom = draft.base === 0 ? messages.basedOnNone : `${messages.basedOn} ${formats.count(draft.base)}.`;
  return (
    <>
      <Card title={messages.draft}>
        <form onSubmit={submit} className="flex flex-col gap-4">
          <p className="max-w-prose text-muted">{messages.draftAbout}</p>
          <TextArea
            label={messages.yaml}
            hint={kept === null ? messages.untouched : madeFrom}
            rows={22}
            wrap="off"
            spellCheck={false}
            autoCapitalize="off"
            maxLength={LONGEST_DRAFT}
            value={draft.yaml}
            onChange={({ target }) => setKept({ yaml: target.value, base: draft.base })}
            className="[&_textarea]:font-mono [&_textarea]:text-[0.8125rem] [&_textarea]:leading-relaxed"
          />
          {preview.error === null ? null : <Refused error={preview.error} />}
          <div className="flex flex-wrap gap-2">
            <Button type="submit" variant={compared?.of === draft.yaml ? "plain" : "action"} busy={preview.isPending}>
              {messages.compare}
            </Button>
            <Discard
              isKept={kept !== null}
              onDiscard={() => {
                setKept(null);
                setCompared(null);
              }}
            />
          </div>
        </form>
      </Card>
      {compared === null || compared.of !== draft.yaml ? null : (
        <Difference
          draft={draft}
          preview={compared.preview}
          onRebase={(base) => setKept({ ...draft, base })}
          onCompareAgain={() => compare(draft.yaml)}
          onPublished={async () => {
            // Until the new version is loaded, the editor would show the previous one, and take a change for a draft of
            // it.
            await queries.invalidateQueries({ queryKey: CATALOG_KEY }, { cancelRefetch: false });
            setKept(null);
            setCompared(null);
          }}
        />
      )}
    </>
  );
}

type DifferenceProps = {
  readonly draft: Draft;
  readonly preview: PreviewCatalogResponse;
  readonly onRebase: (base: number) => void;
  readonly onCompareAgain: () => Promise<void>;
  readonly onPublished: () => Promise<void>;
};

function Difference({ draft, preview, onRebase, onCompareAgain, onPublished }: DifferenceProps) {
  const messages = useMessages(CATALOG_MESSAGES);
  const { version, changes, warnings } = preview;
  const isBehind = version !== draft.base;
  return (
    <>
      {isBehind ? <CatalogConflict base={draft.base} version={version} onRebase={() => onRebase(version)} /> : null}
      <CatalogWarnings warnings={warnings} />
      <Card
        flush
        title={messages.difference}
        aside={
          isBehind || changes.length === 0 ? null : (
            <CatalogPublish draft={draft} changes={changes} onConflict={onCompareAgain} onPublished={onPublished} />
          )
        }
      >
        <div aria-live="polite">
          {changes.length === 0 ? (
            <Empty title={messages.noDifference}>{messages.noDifferenceAbout}</Empty>
          ) : (
            <CatalogDifference changes={changes} />
          )}
        </div>
      </Card>
    </>
  );
}

function Discard({ isKept, onDiscard }: { readonly isKept: boolean; readonly onDiscard: () => void }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const notify = useNotify();
  const [isAsked, setAsked] = useState(false);
  if (!isKept) return null;
  const discard = () => {
    onDiscard();
    notify(messages.discarded);
    return Promise.resolve();
  };
  return (
    <>
      <Button onClick={() => setAsked(true)}>{messages.discard}</Button>
      <CommandDialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title={messages.discardTitle}
        about={messages.discardAbout}
        confirm={messages.discard}
        isDanger
        onCommand={discard}
      />
    </>
  );
}
