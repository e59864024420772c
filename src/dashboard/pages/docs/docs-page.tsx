// The documentation. The build parses its texts; their placeholders are filled with this service's address and with
// data of the live catalog.

import { Link, useParams } from "@tanstack/react-router";
import { ArrowRight, FileText } from "lucide-react";
import { exampleOf } from "../models/first-model.ts";
import { usePublicModels } from "../models/public-models.ts";
import { useLanguage, useMessages } from "../../i18n/language.tsx";
import { buttonClass } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { NotFoundInside } from "../not-found.tsx";
import { DocBlocks } from "./doc-blocks.tsx";
import { DocPrices } from "./doc-prices.tsx";
import { DOC_PAGES, type DocPageName } from "./doc-pages.ts";
import { docPageOf, docText } from "./doc-texts.ts";
import { DOC_NAMES, DOCS_MESSAGES } from "./docs-messages.ts";
import { PageList } from "./page-list.tsx";

/** The page that the address names; without a name, the first. */
export function DocsPage() {
  const { page: named } = useParams({ strict: false });
  const page = docPageOf(named ?? DOC_PAGES[0]);
  return page === null ? <NotFoundInside /> : <Doc page={page} />;
}

function Doc({ page }: { readonly page: DocPageName }) {
  const { language } = useLanguage();
  const messages = useMessages(DOCS_MESSAGES);
  const { title, blocks } = docText(page, language);
  const { data, isError } = usePublicModels();
  const models = data?.models ?? (isError ? null : undefined);
  const example = exampleOf(models ?? []);
  const fill = (text: string): string =>
    text.replaceAll("{origin}", () => window.location.origin).replaceAll("{model}", () => example);
  return (
    <Page
      title={title}
      actions={
        <a href={`/docs/${page}.md?lang=${language}`} className={buttonClass("plain")}>
          <FileText aria-hidden />
          {messages.markdown}
        </a>
      }
    >
      <div className="flex flex-col gap-6 lg:flex-row-reverse lg:justify-between lg:gap-10">
        <PageList />
        <article className="flex min-w-0 flex-1 flex-col gap-8">
          <DocBlocks blocks={blocks} fill={fill} models={<DocPrices models={models} />} />
          <NextPage page={page} />
        </article>
      </div>
    </Page>
  );
}

function NextPage({ page }: { readonly page: DocPageName }) {
  const messages = useMessages(DOCS_MESSAGES);
  const names = useMessages(DOC_NAMES);
  const next = DOC_PAGES[DOC_PAGES.indexOf(page) + 1];
  if (next === undefined) return null;
  return (
    <p className="max-w-3xl border-t border-line pt-4">
      <Link to="/docs/$page" params={{ page: next }} className={buttonClass("plain")}>
        {messages.next}: {names[next]}
        <ArrowRight aria-hidden />
      </Link>
    </p>
  );
}
