// The wallets that pay transfers: their balances, the reason of a stop, and resuming a stopped one.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { PayoutService } from "#gen/saldo/operator/v1/payout_service_pb.ts";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import type { PayoutWallet } from "#gen/saldo/operator/v1/payout_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Fact, Facts } from "../../../components/facts.tsx";
import { Empty, Failed, SkeletonLines } from "../../../components/states.tsx";
import { ChainId } from "../../transfers/chain-id.tsx";
import { useWhen } from "../components/amounts.ts";
import { later } from "../components/later.tsx";
import { useChainName } from "./chain-name.ts";
import { StopsCard } from "./stops-card.tsx";
import { TRANSFERS_MESSAGES } from "./transfers-messages.ts";

const ASK_AGAIN_MS = 20_000;

const ResumeDialog = later(() => import("./resume-dialog.tsx"), "ResumeDialog");

/** A card for each wallet. */
export function WalletsCard() {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const [resumed, setResumed] = useState<PayoutWallet | null>(null);
  const { data, error, refetch } = useQuery(
    PayoutService.method.listPayoutWallets,
    {},
    { refetchInterval: ASK_AGAIN_MS },
  );
  return (
    <section aria-label={messages.wallets} className="flex flex-col gap-3">
      <div>
        <h2 className="text-base font-semibold">{messages.wallets}</h2>
        <p className="text-muted">{messages.walletsAbout}</p>
      </div>
      {error !== null && data === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {data === undefined && error === null ? (
        <Card>
          <SkeletonLines lines={4} />
        </Card>
      ) : null}
      {data?.wallets.length === 0 ? (
        <Card>
          <Empty title={messages.noWallets}>{messages.noWalletsAbout}</Empty>
        </Card>
      ) : null}
      {data === undefined ? null : <StopsCard stops={data.stops} />}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        {data?.wallets.map((wallet) => (
          <Wallet key={`${wallet.chain} ${wallet.address}`} wallet={wallet} onResume={() => setResumed(wallet)} />
        ))}
      </div>
      <ResumeDialog given={resumed === null ? null : { wallet: resumed, onClose: () => setResumed(null) }} />
    </section>
  );
}

function Wallet({ wallet, onResume }: { readonly wallet: PayoutWallet; readonly onResume: () => void }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  const chainName = useChainName();
  const environment = wallet.chain === "sandbox" ? Environment.SANDBOX : Environment.PRODUCTION;
  const ago = (seconds: number) => (seconds === 0 ? "" : ` · ${messages.oldestPayout} ${formats.age(seconds)}`);
  return (
    <Card title={chainName(wallet.chain)} aside={<WalletBadge wallet={wallet} />}>
      <div className="flex flex-col items-start gap-4">
        <div className="w-full">
          <Facts>
            <Fact name={messages.wallet}>
              <ChainId of={{ environment, network: wallet.chain }} what="address" id={wallet.address} />
            </Fact>
            {wallet.stopped ? (
              <>
                <Fact name={messages.stopReason}>{wallet.stopReason}</Fact>
                <Fact name={messages.stoppedSince}>{when(wallet.stoppedAt)}</Fact>
              </>
            ) : null}
            <Fact name={messages.balances}>
              <Balances wallet={wallet} />
            </Fact>
            {wallet.caps.length === 0 ? null : (
              <Fact name={messages.dailyCap}>
                {wallet.caps.map(({ currencyCode, used, cap }) => (
                  <span key={currencyCode} className="block">
                    {formats.coins(used, currencyCode)} / {formats.coins(cap, currencyCode)}
                  </span>
                ))}
              </Fact>
            )}
            <Fact name={messages.openPayouts}>
              {formats.count(wallet.openPayouts)}
              {ago(wallet.oldestPayoutSeconds)}
            </Fact>
            {wallet.oldestUnknownSeconds === 0 ? null : (
              <Fact name={messages.unknown}>{formats.age(wallet.oldestUnknownSeconds)}</Fact>
            )}
            <Fact name={messages.waiting}>{formats.count(wallet.waitingTransfers)}</Fact>
          </Facts>
        </div>
        {wallet.stopped && wallet.configured ? (
          <Button variant="action" onClick={onResume}>
            {messages.resume}
          </Button>
        ) : null}
      </div>
    </Card>
  );
}

function WalletBadge({ wallet: { stopped, configured } }: { readonly wallet: PayoutWallet }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  return (
    <span className="flex flex-wrap gap-1.5">
      {stopped ? <Badge tone="bad">{messages.stopped}</Badge> : null}
      {configured ? null : <Badge>{messages.notHere}</Badge>}
      {configured && !stopped ? <Badge tone="good">{messages.signing}</Badge> : null}
    </span>
  );
}

function Balances({ wallet: { balances, balancesKnown, configured } }: { readonly wallet: PayoutWallet }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const formats = useFormats();
  if (!configured) return messages.balancesNotHere;
  if (!balancesKnown) return messages.balancesUnknown;
  if (balances.length === 0) return messages.balancesSandbox;
  return balances.map(({ currencyCode, amount }) => (
    <span key={currencyCode} className="block">
      {formats.coins(amount, currencyCode)}
    </span>
  ));
}
