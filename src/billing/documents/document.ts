// A document as plain data: what is on its pages, and not how it is drawn. It crosses to the thread that draws it.

/** A line of a document: what it is, and its value. */
export type Fact = { readonly label: string; readonly value: string };

/** A column of a table. */
export type Column = {
  readonly head: string;
  /** The part of the page's width, of 1. */
  readonly width: number;
  readonly isNumber?: boolean;
};

export type Row = {
  readonly cells: readonly string[];
  /** Whether it is a sum: set in bold below a line. */
  readonly isSum?: boolean;
};

export type Block =
  | {
      readonly kind: "parties";
      readonly parties: readonly { readonly label: string; readonly lines: readonly string[] }[];
    }
  | { readonly kind: "facts"; readonly facts: readonly Fact[] }
  | {
      readonly kind: "table";
      readonly title?: string;
      readonly columns: readonly Column[];
      readonly rows: readonly Row[];
    }
  | { readonly kind: "words"; readonly label: string; readonly words: string }
  | { readonly kind: "notes"; readonly lines: readonly string[] };

export type Document = {
  readonly language: "id" | "en";
  readonly title: string;
  /** Below the title, such as a number. */
  readonly subtitle: string;
  /** Above everything, where a document must not be taken for a real one. Empty: nothing. */
  readonly warning: string;
  readonly author: string;
  /** A moment that is the same whenever the document is drawn again. */
  readonly createdAt: Date;
  readonly blocks: readonly Block[];
  /** Before the number of a page: "Page" or "Halaman". */
  readonly pageWord: string;
};
