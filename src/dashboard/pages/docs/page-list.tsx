import { Link } from "@tanstack/react-router";
import { useMessages } from "../../i18n/language.tsx";
import { DOC_PAGES } from "./doc-pages.ts";
import { DOC_NAMES, DOCS_MESSAGES } from "./docs-messages.ts";

const CURRENT = "data-[status=active]:bg-sunken data-[status=active]:font-medium data-[status=active]:text-ink";

/** The links to all pages of the documentation. */
export function PageList() {
  const messages = useMessages(DOCS_MESSAGES);
  const names = useMessages(DOC_NAMES);
  const shape = "inline-flex min-h-8 items-center rounded-lg px-3 text-muted hover:bg-sunken hover:text-ink";
  return (
    <nav aria-label={messages.pages} className="lg:w-48 lg:shrink-0">
      <ul className="flex flex-wrap gap-1 lg:sticky lg:top-20 lg:flex-col">
        {DOC_PAGES.map((page, index) => (
          <li key={page}>
            <Link
              {...(index === 0 ? { to: "/docs" } : { to: "/docs/$page", params: { page } })}
              activeOptions={{ exact: true }}
              className={`${shape} ${CURRENT}`}
            >
              {names[page]}
            </Link>
          </li>
        ))}
        <li className="lg:mt-2 lg:border-t lg:border-line lg:pt-2">
          <Link to="/docs/api" className={`${shape} ${CURRENT}`}>
            {messages.reference}
          </Link>
        </li>
        <li>
          <a href="/openapi.json" className={shape}>
            {messages.openapi}
          </a>
        </li>
        <li>
          <a href="/llms.txt" className={shape}>
            {messages.forPrograms}
          </a>
        </li>
      </ul>
    </nav>
  );
}
