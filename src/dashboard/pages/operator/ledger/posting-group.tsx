// All postings of one event, in a sheet at the right.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { LedgerAccount, Posting } from "#gen/saldo/operator/v1/ledger_pb.ts";
import { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { isNotFound } from "../../../api/transport.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { CopyButton } from "../../../components/copy.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { CreditNoteDialog } from "../accounts/credit-note.tsx";
import { AccountWithId } from "../components/account-name.tsx";
import { useAssetAmount, useWhen } from "../components/amounts.ts";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { NotLoaded } from "../components/rows.tsx";
import { LEDGER_MESSAGES } from "./ledger-messages.ts";
import { ClassName, ReasonName } from "./named.tsx";

/** Opens at the right. */
export function PostingGroup({ groupId, onClose }: { readonly groupId: string; readonly onClose: () => void }) {
  const messages = useMessages(LEDGER_MESSAGES);
  const [noteOf, setNoteOf] = useState<string | null>(null);
  return (
    <>
      <Dialog side open onClose={onClose} title={messages.groupTitle} about={messages.groupAbout}>
        <Group groupId={groupId} onNote={setNoteOf} />
      </Dialog>
      {noteOf === null ? null : <CreditNoteDialog of={noteOf} onClose={() => setNoteOf(null)} />}
    </>
  );
}

function Group({ groupId, onNote }: { readonly groupId: string; readonly onNote: (requestId: string) => void }) {
  const messages = useMessages(LEDGER_MESSAGES);
  const query = useQuery(LedgerService.method.getPostingGroup, { groupId });
  const { data, error } = query;
  if (error !== null) return isNotFound(error) ? <Empty title={messages.groupMissing} /> : <NotLoaded query={query} />;
  if (data === undefined) return <SkeletonLines lines={8} />;
  return (
    <div className="flex flex-col gap-4">
      <Mono>{groupId}</Mono>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={groupId} what={messages.group} />
        {data.postings.some(({ reason }) => reason === "usage") ? (
          <Button onClick={() => onNote(groupId)}>{messages.creditNote}</Button>
        ) : null}
      </div>
      {data.postings.map((posting) => (
        <OnePosting key={`${posting.id} ${posting.reason}`} posting={posting} />
      ))}
    </div>
  );
}

function OnePosting({ posting }: { readonly posting: Posting }) {
  const messages = useMessages(LEDGER_MESSAGES);
  const amountOf = useAssetAmount();
  const when = useWhen();
  return (
    <section aria-label={`${messages.posting} ${posting.id}`} className="rounded-lg border border-line p-3">
      <Facts>
        <Fact name={<ReasonName name={posting.reason} />}>
          <strong className="font-semibold">{amountOf(posting.amount, posting.asset)}</strong>
        </Fact>
        <Fact name={messages.debit}>
          <Side account={posting.debit} />
        </Fact>
        <Fact name={messages.credit}>
          <Side account={posting.credit} />
        </Fact>
        <Fact name={messages.asset}>
          <Mono>{posting.asset}</Mono>
        </Fact>
        <Fact name={messages.time}>{when(posting.postedAt)}</Fact>
        {posting.reference === "" ? null : (
          <Fact name={messages.reference}>
            <Mono>{posting.reference}</Mono>
          </Fact>
        )}
        {posting.note === "" ? null : <Fact name={messages.note}>{posting.note}</Fact>}
        <Fact name={messages.posting}>
          <Mono>{posting.id}</Mono>
        </Fact>
      </Facts>
    </section>
  );
}

/** A link from a customer's funds to the customer's account. */
function Side({ account }: { readonly account: LedgerAccount | undefined }) {
  if (account === undefined) return null;
  return (
    <>
      <ClassName name={account.class} />
      <br />
      {account.class === "customer_funds" ? (
        <AccountWithId id={account.id} />
      ) : (
        <span className="font-mono text-xs break-all">{account.id}</span>
      )}
    </>
  );
}
