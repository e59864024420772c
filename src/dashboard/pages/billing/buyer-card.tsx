// The company data on the account's next receipts.

import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Party } from "#gen/saldo/billing/v1/receipt_pb.ts";
import { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { factsOf } from "../../api/transport.ts";
import { useLanguage, useMessages } from "../../i18n/language.tsx";
import { problemText } from "../../i18n/problem-text.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { TextArea, TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { RECEIPT_MESSAGES } from "./receipt-messages.ts";

/** The rule that names characters. */
const UNPRINTABLE = "receipt.characters";

/** The form, once the data is there. */
export function BuyerCard() {
  const messages = useMessages(RECEIPT_MESSAGES);
  const { data, error, refetch } = useQuery(ReceiptService.method.getBuyer, {});
  const buyer = data?.buyer;
  return (
    <Card title={messages.buyer}>
      <p className="pb-3 text-muted">{messages.buyerAbout}</p>
      {error !== null && buyer === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {buyer === undefined && error === null ? <SkeletonLines lines={3} /> : null}
      {buyer === undefined ? null : <BuyerForm key={`${buyer.name} ${buyer.address} ${buyer.npwp}`} buyer={buyer} />}
    </Card>
  );
}

function BuyerForm({ buyer }: { readonly buyer: Party }) {
  const messages = useMessages(RECEIPT_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  const [name, setName] = useState(buyer.name);
  const [address, setAddress] = useState(buyer.address);
  const [npwp, setNpwp] = useState(buyer.npwp);
  const { mutate, error, isPending } = useMutation(ReceiptService.method.setBuyer, {
    onSuccess: () => {
      notify(messages.saved);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: ReceiptService.method.getBuyer, cardinality: "finite" }),
      });
    },
  });
  const problemOf = useProblemOf(error);
  const save = (event: FormEvent) => {
    event.preventDefault();
    mutate({ buyer: { name, address, npwp } });
  };
  return (
    <form noValidate onSubmit={save} className="flex max-w-xl flex-col gap-4">
      <TextField
        label={messages.name}
        hint={messages.nameHint}
        autoComplete="organization"
        maxLength={120}
        problem={problemOf("buyer.name")}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextArea
        label={messages.address}
        hint={messages.addressHint}
        autoComplete="street-address"
        rows={3}
        maxLength={400}
        problem={problemOf("buyer.address")}
        value={address}
        onChange={({ target }) => setAddress(target.value)}
      />
      <TextField
        label={messages.npwp}
        hint={messages.npwpHint}
        inputMode="numeric"
        maxLength={40}
        value={npwp}
        onChange={({ target }) => setNpwp(target.value)}
      />
      {error === null ? null : (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad">
          {messages.notSaved}
        </p>
      )}
      <Button type="submit" busy={isPending} className="self-start">
        {messages.save}
      </Button>
    </form>
  );
}

/** What the server refuses of a field, where it names single characters: the sentence below the form does not. */
function useProblemOf(error: unknown): (field: string) => string | undefined {
  const { language } = useLanguage();
  const details = (error === null ? null : factsOf(error))?.details ?? [];
  return (name) => {
    const problem = details.find(({ field, rule }) => field === name && rule === UNPRINTABLE);
    return problem && problemText(problem.message, language);
  };
}
