// The merchant's balance in each currency, and the faucet of the sandbox.

import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { amountOf, COINS } from "../../i18n/read-amount.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { Button } from "../../components/button.tsx";
import { Card, Stat } from "../../components/card.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Empty, Failed, Skeleton } from "../../components/states.tsx";
import { CurrencyFields, FIRST_COIN } from "./currency-fields.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";
import { Refused } from "../../components/refused.tsx";

const REFRESHED_EVERY_MS = 10_000;

/** One number for each currency. */
export function MerchantBalances() {
  const messages = useMessages(MERCHANT_MESSAGES);
  const { merchantId, environment } = useMerchantHere();
  const [isFaucetOpen, setFaucetOpen] = useState(false);
  const { data, error, refetch } = useQuery(
    MerchantTransferService.method.listBalances,
    { merchantId },
    { refetchInterval: REFRESHED_EVERY_MS },
  );
  const faucet =
    environment === "sandbox" ? <Button onClick={() => setFaucetOpen(true)}>{messages.faucet}</Button> : undefined;
  return (
    <section aria-label={messages.balances} className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-base font-semibold">{messages.balances}</h2>
        {faucet}
      </div>
      {error !== null && data === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {data === undefined && error === null ? <Skeleton className="h-24 w-full sm:w-72" /> : null}
      {data?.balances.length === 0 ? (
        <Card>
          <Empty title={messages.noBalances}>
            {environment === "sandbox" ? messages.noBalancesSandbox : messages.noBalancesProduction}
          </Empty>
        </Card>
      ) : null}
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {data?.balances.map((balance) => (
          <BalanceOf key={balance.currencyCode} {...balance} />
        ))}
      </div>
      <FaucetDialog open={isFaucetOpen} onClose={() => setFaucetOpen(false)} />
    </section>
  );
}

function BalanceOf({
  currencyCode,
  available,
  held,
}: {
  readonly currencyCode: string;
  readonly available: string;
  readonly held: string;
}) {
  const messages = useMessages(MERCHANT_MESSAGES);
  const formats = useFormats();
  return (
    <Stat
      label={`${currencyCode} ${messages.available}`}
      hint={`${formats.coins(held, currencyCode)} ${messages.held}`}
    >
      <span data-testid={`available-${currencyCode}`} className="block text-xl break-all whitespace-normal">
        {formats.coins(available, currencyCode)}
      </span>
    </Stat>
  );
}

function FaucetDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const messages = useMessages(MERCHANT_MESSAGES);
  const notify = useNotify();
  const formats = useFormats();
  const refresh = useRefreshedBalances();
  const { merchantId } = useMerchantHere();
  const [coin, setCoin] = useState(FIRST_COIN);
  const [typed, setTyped] = useState("1000");
  const [isTried, setTried] = useState(false);
  const { mutate, error, isPending, reset } = useMutation(MerchantService.method.useFaucet, {
    onSuccess: ({ balance }) => {
      refresh();
      notify(
        messages.faucetTaken,
        balance === undefined ? undefined : formats.coins(balance.available, balance.currencyCode),
      );
      onClose();
    },
  });
  const take = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const amount = amountOf(typed, COINS);
    if (amount !== null) mutate({ merchantId, ...coin, amount });
  };
  const close = () => {
    reset();
    onClose();
  };
  return (
    <Dialog open={open} onClose={close} title={messages.faucet} about={messages.faucetAbout}>
      <form noValidate onSubmit={take} className="flex flex-col gap-4">
        <CurrencyFields value={coin} onChange={setCoin} />
        <AmountField
          label={messages.amount}
          hint={messages.amountHint}
          rules={COINS}
          written={(amount) => formats.coins(amount, coin.currencyCode)}
          required
          isTried={isTried}
          value={typed}
          onChange={setTyped}
        />
        {error === null ? null : <Refused error={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={close}>{messages.cancel}</Button>
          <Button type="submit" variant="action" busy={isPending}>
            {messages.faucetTake}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Fetches balances again, after they have changed. */
export function useRefreshedBalances(): () => void {
  const queries = useQueryClient();
  return () =>
    void queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: MerchantTransferService.method.listBalances, cardinality: "finite" }),
    });
}

/** The available amount of a currency. Undefined: it is unknown, or there is none. */
export function useAvailable(currencyCode: string): string | undefined {
  const { merchantId } = useMerchantHere();
  const { data } = useQuery(MerchantTransferService.method.listBalances, { merchantId });
  if (data === undefined) return undefined;
  return data.balances.find((balance) => balance.currencyCode === currencyCode)?.available ?? "0";
}
