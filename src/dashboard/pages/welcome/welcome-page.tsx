// The page "/" for people without a session: what Saldo is, a request to copy, and models with their prices.

import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowRight, BookOpen, LogIn } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { buttonClass, LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { CODING_AGENTS } from "../../snippets/agents.ts";
import { chatCurl } from "../../snippets/chat-code.ts";
import { SNIPPET_MESSAGES } from "../../snippets/snippet-messages.ts";
import { exampleOf } from "../models/first-model.ts";
import { useModelColumns } from "../models/model-columns.tsx";
import { MODELS_MESSAGES } from "../models/models-messages.ts";
import { usePublicModels } from "../models/public-models.ts";
import { isDemo } from "../../layouts/is-demo.ts";
import { PARTS } from "./first-paint.ts";
import { WELCOME_MESSAGES } from "./welcome-messages.ts";

const SHOWN_MODELS = 8;
/** The columns that a visitor compares models by. */
const SHOWN_COLUMNS: ReadonlySet<string> = new Set(["model", "id", "context", "input", "cache", "output"]);

/** The page. */
export function WelcomePage() {
  const messages = useMessages(WELCOME_MESSAGES);
  useEffect(() => {
    document.title = `Saldo · ${messages.title}`;
  }, [messages.title]);
  return (
    <div className={PARTS.page}>
      <div className={PARTS.top}>
        <Hero />
        <FirstRequest />
      </div>
      <Models />
      <section aria-labelledby="points" className="flex flex-col gap-3 max-lg:order-2">
        <h2 id="points" className="text-lg font-semibold tracking-tight">
          {messages.points}
        </h2>
        <dl className="grid gap-3 sm:grid-cols-2">
          <Point name={messages.exact}>{messages.exactAbout}</Point>
          <Point name={messages.prepaid}>{messages.prepaidAbout}</Point>
          <Point name={messages.clients}>
            {messages.clientsAbout} {CODING_AGENTS.map(({ name }) => name).join(", ")}.
          </Point>
          <Point name={messages.routes}>{messages.routesAbout}</Point>
        </dl>
      </section>
    </div>
  );
}

function Hero() {
  const messages = useMessages(WELCOME_MESSAGES);
  return (
    <div className={PARTS.hero}>
      <h1 className={PARTS.title}>{messages.title}</h1>
      <p className={PARTS.about}>{messages.about}</p>
      <div className="flex flex-wrap gap-2">
        <LinkButton to="/sign-up" variant="action" icon={<ArrowRight aria-hidden />}>
          {messages.signUp}
        </LinkButton>
        <LinkButton to="/sign-in" icon={<LogIn aria-hidden />}>
          {messages.signIn}
        </LinkButton>
        <LinkButton to="/docs" icon={<BookOpen aria-hidden />}>
          {messages.docs}
        </LinkButton>
      </div>
      {isDemo() ? <p className="rounded-xl bg-sandbox-soft px-4 py-3 text-sandbox">{messages.demo}</p> : null}
    </div>
  );
}

/** On a narrow page it is below the models: before them it would be the largest part of the first screen, and arrive late. */
function FirstRequest() {
  const messages = useMessages(WELCOME_MESSAGES);
  const { hello } = useMessages(SNIPPET_MESSAGES);
  const { data } = usePublicModels();
  const request = { model: exampleOf(data?.models ?? []), messages: [{ role: "user", content: hello } as const] };
  const place = { origin: window.location.origin, secret: null };
  return (
    <Card title={messages.request} className="max-lg:order-1">
      <p className="pb-3 text-muted">{messages.requestAbout}</p>
      <CodeBlock code={chatCurl(request, place)} what={messages.request} />
    </Card>
  );
}

function Models() {
  const messages = useMessages(WELCOME_MESSAGES);
  const { data, error, refetch } = usePublicModels();
  return (
    <Card
      flush
      title={messages.models}
      aside={
        <Link to="/models" className={buttonClass("plain")}>
          {messages.allModels}
          {data === undefined ? null : ` (${data.models.length})`}
        </Link>
      }
    >
      <p className="px-4 pb-3 text-muted">{messages.modelsAbout}</p>
      {data === undefined ? (
        error === null ? (
          <SkeletonLines lines={SHOWN_MODELS} />
        ) : (
          <Failed error={error} retry={() => void refetch()} />
        )
      ) : (
        <ModelTable models={data.models} />
      )}
    </Card>
  );
}

/** The newest models. */
function ModelTable({ models }: { readonly models: readonly Model[] }) {
  const messages = useMessages(MODELS_MESSAGES);
  const columns = useModelColumns().filter(({ key }) => SHOWN_COLUMNS.has(key));
  const navigate = useNavigate();
  if (models.length === 0) return <Empty title={messages.empty}>{messages.emptyAbout}</Empty>;
  return (
    <Table
      label={messages.title}
      columns={columns}
      rows={models.toSorted((one, other) => other.created - one.created).slice(0, SHOWN_MODELS)}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: "/models/$", params: { _splat: id } })}
    />
  );
}

function Point({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0 rounded-xl border border-line bg-card p-4">
      <dt className="font-semibold">{name}</dt>
      <dd className="mt-1 text-muted">{children}</dd>
    </div>
  );
}
