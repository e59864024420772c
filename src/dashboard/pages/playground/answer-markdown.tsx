// Renders a model's answer as Markdown. `marked` parses it; its tokens become elements of ours, and never HTML: markup in an
// answer is shown as it was written. Nothing is loaded: a picture is a link to it.

import { type MarkedToken, marked, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode, useMemo } from "react";
import { CodeBlock } from "../../components/copy.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { blocksOf, isParsed } from "./answer-blocks.ts";
import { linkOf } from "./answer-link.ts";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";

/** Quotes and lists that are nested deeper are shown as they were written. */
const DEEPEST = 12;

/** The answer. Its blocks are parsed one by one; what cannot be parsed is shown as text. */
export function AnswerMarkdown({ text }: { readonly text: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-3 leading-relaxed wrap-anywhere">
      {blocksOf(text).map((block, index) => (
        // An answer only grows at its end.
        // oxlint-disable-next-line react/no-array-index-key
        <AnswerBlock key={index} text={block} />
      ))}
    </div>
  );
}

function AnswerBlock({ text }: { readonly text: string }) {
  const tokens = useMemo(() => parse(text), [text]);
  if (tokens === null) return <p className="whitespace-pre-wrap">{text}</p>;
  return <Blocks tokens={tokens} depth={0} />;
}

function parse(block: string): readonly Token[] | null {
  if (!isParsed(block)) return null;
  try {
    return marked.lexer(block);
  } catch {
    return null;
  }
}

type Nested = { readonly tokens: readonly Token[]; readonly depth: number };

function Blocks({ tokens, depth }: Nested) {
  return tokens.map((token, index) => (
    // An answer only grows at its end.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>
      {depth > DEEPEST ? token.raw : <Block token={token as MarkedToken} depth={depth} />}
    </Fragment>
  ));
}

function Block({ token, depth }: { readonly token: MarkedToken; readonly depth: number }): ReactNode {
  const { codeBlock } = useMessages(PLAYGROUND_MESSAGES);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      // The page has its own headings; these are the answer's.
      return <p className="text-base font-semibold">{inlines(token.tokens, depth)}</p>;
    case "paragraph":
      return <p className="whitespace-pre-wrap">{inlines(token.tokens, depth)}</p>;
    case "code":
      return <CodeBlock code={token.text} what={token.lang || codeBlock} />;
    case "blockquote":
      return (
        <blockquote className="flex flex-col gap-3 border-l-2 border-line-strong pl-3 text-muted">
          <Blocks tokens={token.tokens} depth={depth + 1} />
        </blockquote>
      );
    case "list":
      return <List list={token} depth={depth} />;
    case "table":
      return <TableOf table={token} depth={depth} />;
    case "hr":
      return <hr className="border-line" />;
    case "text":
    case "checkbox":
      return <span className="whitespace-pre-wrap">{inline(token, depth)}</span>;
    case "html":
    case "list_item":
    case "br":
    case "codespan":
    case "del":
    case "em":
    case "escape":
    case "image":
    case "link":
    case "strong":
    default:
      return <p className="whitespace-pre-wrap">{token.raw}</p>;
  }
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const Tag = list.ordered ? "ol" : "ul";
  return (
    <Tag
      className={`flex flex-col gap-1 pl-5 ${list.ordered ? "list-decimal" : "list-disc"}`}
      {...(list.ordered && typeof list.start === "number" ? { start: list.start } : {})}
    >
      {list.items.map(({ tokens, task }, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index}>
          <div className={`flex min-w-0 gap-1 ${task ? "" : "flex-col"}`}>
            <Blocks tokens={tokens} depth={depth + 1} />
          </div>
        </li>
      ))}
    </Tag>
  );
}

function TableOf({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  const { table: label } = useMessages(PLAYGROUND_MESSAGES);
  return (
    // A region that scrolls is reached by the keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="region" aria-label={label} tabIndex={0} className="overflow-x-auto rounded-lg border border-line">
      <table className="w-full border-collapse text-left text-[0.8125rem]">
        <thead>
          <tr className="border-b border-line text-muted">
            {table.header.map((cell, index) => (
              // oxlint-disable-next-line react/no-array-index-key
              <th key={index} scope="col" className="px-3 py-2 font-medium">
                {inlines(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={index} className="border-b border-line last:border-b-0">
              {row.map((cell, at) => (
                // oxlint-disable-next-line react/no-array-index-key
                <td key={at} className="px-3 py-2 align-top">
                  {inlines(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  // oxlint-disable-next-line react/no-array-index-key
  return tokens?.map((token, index) => <Fragment key={index}>{inline(token as MarkedToken, depth)}</Fragment>);
}

function inline(token: MarkedToken, depth: number): ReactNode {
  if (depth > DEEPEST) return token.raw;
  switch (token.type) {
    case "text":
      return token.tokens === undefined ? token.text : inlines(token.tokens, depth + 1);
    case "escape":
      return token.text;
    case "strong":
      return <strong className="font-semibold">{inlines(token.tokens, depth + 1)}</strong>;
    case "em":
      return <em>{inlines(token.tokens, depth + 1)}</em>;
    case "del":
      return <del>{inlines(token.tokens, depth + 1)}</del>;
    case "codespan":
      return <code className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.8125rem]">{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <AnswerLink href={token.href}>{inlines(token.tokens, depth + 1)}</AnswerLink>;
    case "image":
      return <AnswerLink href={token.href}>{token.text || token.href}</AnswerLink>;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "html":
    case "blockquote":
    case "code":
    case "def":
    case "heading":
    case "hr":
    case "list":
    case "list_item":
    case "paragraph":
    case "space":
    case "table":
    default:
      return token.raw;
  }
}

/** A link that a model wrote: it shows where it leads, and opens beside the page, which stays unknown there. */
function AnswerLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const to = linkOf(href);
  if (to === null) return children;
  return (
    <a
      href={to}
      title={to}
      target="_blank"
      rel="noopener noreferrer nofollow ugc"
      className="font-medium text-action underline underline-offset-2"
    >
      {children}
    </a>
  );
}
