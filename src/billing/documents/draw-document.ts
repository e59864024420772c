// Draws a document as a PDF on A4 paper. Both fonts are embedded, as subsets, so that names in all Latin, Greek and Cyrillic letters look the
// same everywhere and can be copied out of the file.

import { fileURLToPath } from "node:url";
import PdfKitDocument from "pdfkit";
import type { Block, Column, Document, Row } from "./document.ts";

/** A test compares their characters with those of drawable-text.ts. */
export const FONT_FILES = {
  regular: "@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf",
  bold: "@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf",
} as const;
const INK = "#16181d";
const QUIET = "#5b616e";
const LINE = "#d5d8de";
const WARNING = "#9a3412";
const MARGIN = 56;
const FOOT = 40;
const GAP = 22;
const ROW_PADDING = 5;
const SIZES = { title: 22, subtitle: 11, text: 9.5, small: 8 } as const;

/** Numbers end at one line, and their digits are of one width. */
const NUMBER = { align: "right", features: ["tnum"] } as const satisfies PDFKit.Mixins.TextOptions;

type Pdf = InstanceType<typeof PdfKitDocument>;

/** Draws a document. The same document is drawn in the same way. */
export function drawDocument(document: Document): Promise<Uint8Array> {
  const pdf = new PdfKitDocument({
    size: "A4",
    margins: { top: MARGIN, bottom: MARGIN + FOOT, left: MARGIN, right: MARGIN },
    bufferPages: true,
    lang: document.language,
    displayTitle: true,
    info: {
      Title: `${document.title} ${document.subtitle}`,
      Author: document.author,
      CreationDate: document.createdAt,
      ModDate: document.createdAt,
    },
  });
  for (const [name, file] of Object.entries(FONT_FILES))
    pdf.registerFont(name, fileURLToPath(import.meta.resolve(file)));
  const pieces: Buffer[] = [];
  const whole = new Promise<Uint8Array>((resolve, reject) => {
    pdf.on("data", (piece: Buffer) => pieces.push(piece));
    pdf.on("end", () => resolve(Buffer.concat(pieces)));
    pdf.on("error", reject);
  });
  drawHead(pdf, document);
  for (const block of document.blocks) drawBlock(pdf, block);
  drawFeet(pdf, document);
  pdf.end();
  return whole;
}

function drawHead(pdf: Pdf, { title, subtitle, warning }: Document): void {
  if (warning !== "") {
    pdf.font("bold").fontSize(SIZES.text).fillColor(WARNING).text(warning);
    pdf.moveDown(0.6);
  }
  pdf.font("bold").fontSize(SIZES.title).fillColor(INK).text(title);
  pdf.font("regular").fontSize(SIZES.subtitle).fillColor(QUIET).text(subtitle);
  drawLine(pdf, pdf.y + 10);
  pdf.y += 10 + GAP;
}

function drawBlock(pdf: Pdf, block: Block): void {
  if (block.kind === "parties") drawParties(pdf, block);
  else if (block.kind === "facts") drawFacts(pdf, block);
  else if (block.kind === "table") drawTable(pdf, block);
  else if (block.kind === "words") drawWords(pdf, block);
  else drawNotes(pdf, block);
  pdf.x = MARGIN;
  pdf.y += GAP;
}

/** Seller and buyer, side by side. */
function drawParties(pdf: Pdf, { parties }: Extract<Block, { kind: "parties" }>): void {
  const width = widthOf(pdf) / Math.max(parties.length, 1);
  const top = pdf.y;
  let bottom = top;
  for (const [index, { label, lines }] of parties.entries()) {
    const place = { width: width - GAP };
    pdf
      .font("regular")
      .fontSize(SIZES.small)
      .fillColor(QUIET)
      .text(label, MARGIN + index * width, top, place);
    pdf.moveDown(0.3);
    for (const [line, text] of lines.entries())
      pdf
        .font(line === 0 ? "bold" : "regular")
        .fontSize(SIZES.text)
        .fillColor(INK)
        .text(text, place);
    bottom = Math.max(bottom, pdf.y);
  }
  pdf.y = bottom;
}

function drawFacts(pdf: Pdf, { facts }: Extract<Block, { kind: "facts" }>): void {
  const width = widthOf(pdf);
  for (const { label, value } of facts) {
    const top = startOfRow(pdf, SIZES.text + ROW_PADDING);
    pdf
      .font("regular")
      .fontSize(SIZES.text)
      .fillColor(QUIET)
      .text(label, MARGIN, top, { width: width * 0.32 });
    pdf.fillColor(INK).text(value, MARGIN + width * 0.34, top, { width: width * 0.66 });
    pdf.y = Math.max(pdf.y, top + SIZES.text + ROW_PADDING);
  }
}

function drawTable(pdf: Pdf, { title, columns, rows }: Extract<Block, { kind: "table" }>): void {
  if (title !== undefined) {
    // A title is not left alone at the end of a page.
    startOfRow(pdf, 70);
    pdf.font("bold").fontSize(SIZES.subtitle).fillColor(INK).text(title, MARGIN);
    pdf.y += 6;
  }
  const heads: Row = { cells: columns.map(({ head }) => head) };
  drawRow(pdf, columns, heads, { color: QUIET, font: "regular", size: SIZES.small });
  drawLine(pdf, pdf.y);
  for (const row of rows) {
    const font = row.isSum === true ? "bold" : "regular";
    const needed = heightOf(pdf, columns, row, font) + ROW_PADDING * 2;
    const page = pdf.bufferedPageRange().count;
    startOfRow(pdf, needed);
    if (pdf.bufferedPageRange().count > page) {
      drawRow(pdf, columns, heads, { color: QUIET, font: "regular", size: SIZES.small });
      drawLine(pdf, pdf.y);
    }
    if (row.isSum === true) drawLine(pdf, pdf.y);
    drawRow(pdf, columns, row, { color: INK, font, size: SIZES.text });
  }
}

type Style = { readonly color: string; readonly font: "regular" | "bold"; readonly size: number };

function drawRow(pdf: Pdf, columns: readonly Column[], row: Row, { color, font, size }: Style): void {
  const top = pdf.y + ROW_PADDING;
  let bottom = top;
  for (const { column, text, left, width } of cellsOf(pdf, columns, row)) {
    pdf.font(font).fontSize(size).fillColor(color);
    pdf.text(text, left, top, column.isNumber === true ? { width, ...NUMBER } : { width });
    bottom = Math.max(bottom, pdf.y);
  }
  pdf.y = bottom + ROW_PADDING;
}

function heightOf(pdf: Pdf, columns: readonly Column[], row: Row, font: string): number {
  pdf.font(font).fontSize(SIZES.text);
  const heights = cellsOf(pdf, columns, row).map(({ text, width }) => pdf.heightOfString(text, { width }));
  return Math.max(0, ...heights);
}

function cellsOf(pdf: Pdf, columns: readonly Column[], { cells }: Row) {
  const between = 8;
  const whole = widthOf(pdf);
  let left = MARGIN;
  return columns.map((column, index) => {
    const place = { column, text: cells[index] ?? "", left, width: whole * column.width - between };
    left += whole * column.width;
    // The last column ends where the line does.
    return index === columns.length - 1 ? { ...place, width: whole * column.width } : place;
  });
}

function drawWords(pdf: Pdf, { label, words }: Extract<Block, { kind: "words" }>): void {
  startOfRow(pdf, 50);
  pdf.font("regular").fontSize(SIZES.small).fillColor(QUIET).text(label, MARGIN);
  pdf.moveDown(0.3);
  pdf.font("regular").fontSize(SIZES.subtitle).fillColor(INK).text(words);
}

function drawNotes(pdf: Pdf, { lines }: Extract<Block, { kind: "notes" }>): void {
  startOfRow(pdf, 30);
  pdf.font("regular").fontSize(SIZES.small).fillColor(QUIET);
  for (const line of lines) pdf.text(line, MARGIN).moveDown(0.3);
}

/** The author and the number of the page, at the end of each. */
function drawFeet(pdf: Pdf, { author, subtitle, pageWord }: Document): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let page = start; page < start + count; page += 1) {
    pdf.switchToPage(page);
    // Below the margin, where a text would begin a page of its own.
    pdf.page.margins.bottom = 0;
    const top = pdf.page.height - MARGIN;
    const place = { width: widthOf(pdf), lineBreak: false };
    pdf.font("regular").fontSize(SIZES.small).fillColor(QUIET).text(`${author} · ${subtitle}`, MARGIN, top, place);
    pdf.text(`${pageWord} ${page - start + 1} / ${count}`, MARGIN, top, { ...place, align: "right" });
  }
}

/** Where a row of a height begins: here, or at the top of a new page. */
function startOfRow(pdf: Pdf, height: number): number {
  if (pdf.y + height > pdf.page.height - MARGIN - FOOT) pdf.addPage();
  return pdf.y;
}

function drawLine(pdf: Pdf, y: number): void {
  pdf
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + widthOf(pdf), y)
    .lineWidth(0.7)
    .strokeColor(LINE)
    .stroke();
}

function widthOf(pdf: Pdf): number {
  return pdf.page.width - MARGIN * 2;
}
