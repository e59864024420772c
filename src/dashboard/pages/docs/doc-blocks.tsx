// Renders the documentation's blocks. Placeholders become this service's address or one of its models.

import { Link, type LinkProps } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { useMessages, type Messages } from "../../i18n/language.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { DocTable } from "./doc-table.tsx";
import type { Block, Inline } from "./markdown.ts";

const MESSAGES = {
  id: { code: "Kode", table: "Tabel" },
  en: { code: "Code", table: "Table" },
} satisfies Messages<Record<string, string>>;

type Filling = {
  /** Replaces a text's placeholders. */
  readonly fill: (text: string) => string;
  /** The prices of all models. */
  readonly models: ReactNode;
};

/** The blocks of a page below its title. */
export function DocBlocks({ blocks, ...filling }: Filling & { readonly blocks: readonly Block[] }) {
  return (
    <div className="flex max-w-3xl min-w-0 flex-col gap-4 text-[0.9375rem] leading-relaxed">
      {blocks.map((block, index) => (
        // The texts never change while they are seen.
        // oxlint-disable-next-line react/no-array-index-key
        <DocBlock key={index} block={block} {...filling} />
      ))}
    </div>
  );
}

function DocBlock({ block, fill, models }: Filling & { readonly block: Block }) {
  const messages = useMessages(MESSAGES);
  switch (block.kind) {
    case "heading":
      return (
        <h2 id={block.id} className="mt-4 scroll-mt-20 text-lg font-semibold tracking-tight">
          {fill(block.text)}
        </h2>
      );
    case "paragraph":
      return <p className="wrap-anywhere">{shownAll(block.inlines, fill)}</p>;
    case "list":
      return <DocList block={block} fill={fill} />;
    case "table":
      return (
        <DocTable
          label={messages.table}
          head={block.head.map((inlines) => shownAll(inlines, fill))}
          rows={block.rows.map((cells) => cells.map((inlines) => shownAll(inlines, fill)))}
        />
      );
    case "code":
      return <CodeBlock code={fill(block.text)} what={`${messages.code} ${block.language}`.trim()} />;
    case "models":
    default:
      return models;
  }
}

function DocList({ block, fill }: { readonly block: Block & { kind: "list" }; readonly fill: Filling["fill"] }) {
  const Tag = block.ordered ? "ol" : "ul";
  return (
    <Tag className={`flex flex-col gap-1.5 pl-5 wrap-anywhere ${block.ordered ? "list-decimal" : "list-disc"}`}>
      {block.items.map((inlines, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index}>{shownAll(inlines, fill)}</li>
      ))}
    </Tag>
  );
}

function shownAll(inlines: readonly Inline[], fill: Filling["fill"]): ReactNode {
  // oxlint-disable-next-line react/no-array-index-key
  return inlines.map((inline, index) => <Fragment key={index}>{shown(inline, fill)}</Fragment>);
}

function shown(inline: Inline, fill: Filling["fill"]): ReactNode {
  switch (inline.kind) {
    case "code":
      return (
        <code className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.8125rem] wrap-anywhere">
          {fill(inline.text)}
        </code>
      );
    case "strong":
      return <strong className="font-semibold">{fill(inline.text)}</strong>;
    case "em":
      return <em>{fill(inline.text)}</em>;
    case "link":
      return (
        <Link to={inline.to as NonNullable<LinkProps["to"]>} className="font-medium text-action underline">
          {inline.text}
        </Link>
      );
    case "text":
    default:
      return fill(inline.text);
  }
}
