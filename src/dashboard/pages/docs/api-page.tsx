// The API reference: every operation of the OpenAPI document, with a search.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Braces } from "lucide-react";
import { useEffect, useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { buttonClass } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { TextField } from "../../components/field.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type ApiDocument, loadDocument, type Operation, operationsOf, searchOperations } from "./api-document.ts";
import { API_GROUPS, API_MESSAGES } from "./api-messages.ts";
import { ApiOperation, Verb } from "./api-operation.tsx";
import { PageList } from "./page-list.tsx";

/** The page. */
export function ApiPage() {
  const messages = useMessages(API_MESSAGES);
  const { data, error, refetch } = useQuery({ queryKey: ["openapi"], queryFn: loadDocument, staleTime: Infinity });
  return (
    <Page
      title={messages.title}
      about={messages.about}
      actions={
        <a href="/openapi.json" className={buttonClass("plain")}>
          <Braces aria-hidden />
          {messages.file}
        </a>
      }
    >
      <div className="flex flex-col gap-6 lg:flex-row-reverse lg:justify-between lg:gap-10">
        <PageList />
        <div className="flex min-w-0 flex-1 flex-col gap-4">
          {data === undefined ? (
            <Card>
              {error === null ? <SkeletonLines lines={8} /> : <Failed error={error} retry={() => void refetch()} />}
            </Card>
          ) : (
            <Reference document={data} />
          )}
        </div>
      </div>
    </Page>
  );
}

function Reference({ document }: { readonly document: ApiDocument }) {
  const messages = useMessages(API_MESSAGES);
  const { op, q = "" } = useSearch({ from: "/open-to-all/docs/api" });
  const operation = operationsOf(document).find(({ operationId }) => operationId === op);
  if (op === undefined)
    return (
      <>
        <SearchField search={q} />
        <OperationList document={document} found={searchOperations(document, q)} />
      </>
    );
  return (
    <>
      <p>
        <Link to="/docs/api" search={q === "" ? {} : { q }} className={buttonClass("plain")}>
          {messages.all}
        </Link>
      </p>
      <Card>
        {operation === undefined ? (
          <Empty title={messages.unknown} />
        ) : (
          <ApiOperation key={operation.operationId} document={document} operation={operation} />
        )}
      </Card>
    </>
  );
}

function SearchField({ search }: { readonly search: string }) {
  const messages = useMessages(API_MESSAGES);
  const navigate = useNavigate({ from: "/docs/api" });
  // Also kept here: the address follows a moment later, and a letter typed meanwhile would be lost.
  const [typed, setTyped] = useState(search);
  useEffect(() => {
    if (search === "") setTyped("");
  }, [search]);
  return (
    <div role="search">
      <TextField
        type="search"
        label={messages.search}
        placeholder={messages.searchHint}
        value={typed}
        onChange={({ target: { value } }) => {
          setTyped(value);
          void navigate({ search: value === "" ? {} : { q: value }, replace: true, resetScroll: false });
        }}
      />
    </div>
  );
}

type OperationListProps = { readonly document: ApiDocument; readonly found: readonly Operation[] };

function OperationList({ document, found }: OperationListProps) {
  const messages = useMessages(API_MESSAGES);
  const groups = useMessages(API_GROUPS);
  const { q } = useSearch({ from: "/open-to-all/docs/api" });
  if (found.length === 0)
    return (
      <Card>
        <Empty title={messages.nothing} />
      </Card>
    );
  return groupsOf(document).map(({ name, description }) => {
    const operations = found.filter(({ tags }) => tags.includes(name));
    if (operations.length === 0) return null;
    const title = (groups as Readonly<Record<string, string>>)[name] ?? name;
    return (
      <section key={name} aria-label={title} className="flex min-w-0 flex-col gap-2">
        <div>
          <h2 className="text-base font-semibold">{title}</h2>
          <p lang="en" className="max-w-prose text-muted">
            {description.split("`").join("")}
          </p>
        </div>
        <ul className="divide-y divide-line rounded-xl border border-line bg-card">
          {operations.map(({ operationId, verb, path, summary }) => (
            <li key={operationId}>
              <Link
                to="/docs/api"
                search={{ op: operationId, ...(q === undefined ? {} : { q }) }}
                className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 hover:bg-sunken"
              >
                <Verb verb={verb} />
                <code className="font-mono text-[0.8125rem] break-all">{path}</code>
                <span lang="en" className="text-muted">
                  {summary}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
    );
  });
}

/** The groups of operations: those that most callers need come first. */
function groupsOf({ tags }: ApiDocument): ApiDocument["tags"] {
  const order = Object.keys(API_GROUPS.en);
  const placeOf = ({ name }: { readonly name: string }): number =>
    (order.indexOf(name) + order.length + 1) % (order.length + 1);
  return tags.toSorted((one, other) => placeOf(one) - placeOf(other));
}
