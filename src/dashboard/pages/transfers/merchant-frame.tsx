// The frame of a merchant's pages: their environment, their sections, and the merchant itself, which is created here
// when the account has none yet.

import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type EnvironmentName, ENVIRONMENTS, isEnvironmentName } from "./environment-names.ts";
import { ENVIRONMENT_COLOURS, ENVIRONMENT_EDGES, ENVIRONMENT_OF, EnvironmentLabel } from "./environments.tsx";
import { MerchantContext } from "./merchant-here.tsx";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";
import { type Pair, PairDialog } from "./pair-dialog.tsx";
import { Refused } from "../../components/refused.tsx";

/** The frame; the page renders in its outlet. */
export function MerchantFrame() {
  const messages = useMessages(MERCHANT_MESSAGES);
  const { environment: named } = useParams({ from: "/inside/transfers/$environment" });
  const environment = isEnvironmentName(named) ? named : "sandbox";
  return (
    <Page title={messages.title} about={messages.about} actions={<EnvironmentLinks environment={environment} />}>
      <p
        className={`flex flex-wrap items-center gap-x-2 rounded-lg border-l-4 px-3 py-2 ${ENVIRONMENT_COLOURS[environment]} ${ENVIRONMENT_EDGES[environment]}`}
      >
        <strong className="inline-flex font-semibold">
          <EnvironmentLabel environment={environment} />
        </strong>
        <span>{environment === "sandbox" ? messages.sandboxAbout : messages.productionAbout}</span>
      </p>
      <MerchantOf key={environment} environment={environment} />
    </Page>
  );
}

function EnvironmentLinks({ environment }: { readonly environment: EnvironmentName }) {
  const messages = useMessages(MERCHANT_MESSAGES);
  return (
    <nav aria-label={messages.environments} className="inline-flex rounded-lg bg-sunken p-0.5">
      {ENVIRONMENTS.map((name) => (
        <Link
          key={name}
          to="/transfers/$environment"
          params={{ environment: name }}
          aria-current={name === environment ? "page" : undefined}
          className={`inline-flex min-h-8 items-center rounded-md px-3 text-[0.8125rem] font-medium ${
            name === environment ? ENVIRONMENT_COLOURS[name] : "text-muted hover:text-ink"
          }`}
        >
          <EnvironmentLabel environment={name} />
        </Link>
      ))}
    </nav>
  );
}

function MerchantOf({ environment }: { readonly environment: EnvironmentName }) {
  const [pair, setPair] = useState<Pair | null>(null);
  const { data, error, refetch } = useQuery(MerchantService.method.listMerchants, {});
  const merchantId = data?.merchants.find((merchant) => merchant.environment === ENVIRONMENT_OF[environment])?.id;
  const here = useMemo(
    () => (merchantId === undefined ? null : { merchantId, environment, showPair: setPair }),
    [merchantId, environment],
  );
  if (data === undefined)
    return error === null ? <SkeletonLines lines={6} /> : <Failed error={error} retry={() => void refetch()} />;
  return (
    <>
      {here === null ? (
        <NoMerchant environment={environment} onMade={setPair} />
      ) : (
        <MerchantContext value={here}>
          <Parts environment={environment} />
          <Outlet />
        </MerchantContext>
      )}
      <PairDialog pair={pair} environment={environment} onClose={() => setPair(null)} />
    </>
  );
}

type NoMerchantProps = { readonly environment: EnvironmentName; readonly onMade: (pair: Pair) => void };

function NoMerchant({ environment, onMade }: NoMerchantProps) {
  const messages = useMessages(MERCHANT_MESSAGES);
  const offered = useQuery(MerchantService.method.listCurrencies, { environment: ENVIRONMENT_OF[environment] });
  const { make, error, isPending } = useMaking({ environment, onMade });
  const title = environment === "sandbox" ? messages.noMerchantSandbox : messages.noMerchantProduction;
  // Whether a merchant can be created is then unknown.
  if (offered.data === undefined && offered.error !== null) {
    return <Failed error={offered.error} retry={() => void offered.refetch()} />;
  }
  if (offered.data?.currencies.length === 0) {
    return (
      <Card>
        <Empty title={title}>{messages.notOffered}</Empty>
      </Card>
    );
  }
  return (
    <Card>
      <Empty
        title={title}
        action={
          <Button variant="action" busy={isPending} disabled={offered.data === undefined} onClick={make}>
            {environment === "sandbox" ? messages.makeSandbox : messages.makeProduction}
          </Button>
        }
      >
        {environment === "sandbox" ? messages.noMerchantSandboxAbout : messages.noMerchantProductionAbout}
      </Empty>
      {error === null ? null : <Refused error={error} instead={{ currency_unsupported: messages.notOffered }} />}
    </Card>
  );
}

function useMaking({ environment, onMade }: NoMerchantProps) {
  const queries = useQueryClient();
  // A second click comes before the button shows that the first one is running; each would create a merchant.
  const isAsked = useRef(false);
  const { mutate, error, isPending } = useMutation(MerchantService.method.createMerchant, {
    // The pair is kept only in the dialog that shows it.
    gcTime: 0,
    onSettled: () => {
      isAsked.current = false;
    },
    onSuccess: ({ apiKey, secretKey }) => {
      onMade({ apiKey, secretKey });
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: MerchantService.method.listMerchants, cardinality: "finite" }),
      });
    },
  });
  const make = () => {
    if (isAsked.current) return;
    isAsked.current = true;
    mutate({ environment: ENVIRONMENT_OF[environment] });
  };
  return { make, error, isPending };
}

const PARTS = [
  { to: "/transfers/$environment", name: "list" },
  { to: "/transfers/$environment/new", name: "order" },
  { to: "/transfers/$environment/credentials", name: "credentials" },
  { to: "/transfers/$environment/callbacks", name: "callbacks" },
] as const;

function Parts({ environment }: { readonly environment: EnvironmentName }) {
  const messages = useMessages(MERCHANT_MESSAGES);
  return (
    <nav aria-label={messages.parts} className="-mx-1 flex gap-1 overflow-x-auto border-b border-line px-1">
      {PARTS.map(({ to, name }) => (
        <Link
          key={to}
          to={to}
          params={{ environment }}
          activeOptions={{ exact: true, includeSearch: false }}
          className="inline-flex min-h-10 items-center border-b-2 border-transparent px-3 font-medium max-sm:px-2 max-sm:text-[0.8125rem] whitespace-nowrap text-muted hover:text-ink data-[status=active]:border-action data-[status=active]:text-ink"
        >
          {messages[name]}
        </Link>
      ))}
    </nav>
  );
}
