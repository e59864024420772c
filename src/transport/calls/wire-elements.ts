// Counts the elements of a protobuf message over its bytes before an object is made of any of them. The count follows the
// contract into nested messages and skips texts, so it costs one step for each field. It is stricter than the decoder, which
// takes the kind of a value from the contract and ignores the tag: bytes that one of them skips, the other could read.

import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { ValidationError } from "../../kernel/errors.ts";
import { MAX_ELEMENTS, tooManyElements } from "./element-bound.ts";

// The encoding of a value, the lower three bits of a tag. Groups have numbers of their own and are in none of our contracts.
const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** The facts of a field: the encoding of its value, and its parts. */
type Field = {
  readonly wire: number;
  /** The bytes of the smallest item of a packed list; 0 where the field cannot be packed. */
  readonly packedItem: number;
  readonly message: Fields | null;
};
type Fields = ReadonlyMap<number, Field>;

/** As deep as the decoder goes. */
const MAX_DEPTH = 100;
const MAX_VARINT_BYTES = 10;
const MAX_VARINT32_BYTES = 5;

const known = new WeakMap<DescMessage, Fields>();

/** Throws unless the bytes are a message of at most MAX_ELEMENTS elements. Errors: ValidationError. */
export function boundWireElements(desc: DescMessage, bytes: Uint8Array): void {
  new Count(bytes).message(fieldsOf(desc), bytes.length, 1);
}

class Count {
  readonly #bytes: Uint8Array;
  #at = 0;
  #elements = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  message(fields: Fields, end: number, depth: number): void {
    if (depth > MAX_DEPTH) throw undecodable("it is nested too deeply");
    while (this.#at < end) {
      this.#add(1);
      const tag = this.#varint32(end);
      const wire = tag & 7;
      const field = fields.get(tag >>> 3);
      if (field === undefined || wire === field.wire) this.#value(field?.message ?? null, wire, end, depth);
      else if (wire === LENGTH_DELIMITED && field.packedItem > 0) this.#packed(field, end);
      else throw undecodable("a field has another type than its contract says");
    }
  }

  #add(elements: number): void {
    this.#elements += elements;
    if (this.#elements > MAX_ELEMENTS) throw tooManyElements();
  }

  #value(message: Fields | null, wire: number, end: number, depth: number): void {
    switch (wire) {
      case VARINT:
        return this.#skipVarint(end);
      case FIXED64:
        return this.#skip(8, end);
      case FIXED32:
        return this.#skip(4, end);
      case LENGTH_DELIMITED: {
        const length = this.#varint32(end);
        if (message === null) return this.#skip(length, end);
        if (this.#at + length > end) throw undecodable("it ends within a field");
        return this.message(message, this.#at + length, depth + 1);
      }
      default:
        throw undecodable("it has a group");
    }
  }

  #packed({ wire, packedItem }: Field, end: number): void {
    const length = this.#varint32(end);
    this.#add(length / packedItem);
    this.#skip(length, end);
    const isWhole = wire === VARINT ? length === 0 || this.#byte(this.#at - 1) < 0x80 : length % packedItem === 0;
    if (!isWhole) throw undecodable("it ends within a list");
  }

  #skip(length: number, end: number): void {
    this.#at += length;
    if (this.#at > end) throw undecodable("it ends within a field");
  }

  #skipVarint(end: number): void {
    for (let i = 0; i < MAX_VARINT_BYTES && this.#at < end; i += 1) {
      if (this.#byte(this.#at++) < 0x80) return;
    }
    throw undecodable("it ends within a number");
  }

  #varint32(end: number): number {
    let value = 0;
    for (let i = 0; i < MAX_VARINT32_BYTES && this.#at < end; i += 1) {
      const byte = this.#byte(this.#at++);
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80 && value < 2 ** 32) return value;
    }
    throw undecodable("it ends within a number");
  }

  #byte(at: number): number {
    return this.#bytes[at] ?? 0;
  }
}

function undecodable(why: string): ValidationError {
  return new ValidationError([{ field: "", rule: "protocol", message: `cannot be decoded: ${why}` }]);
}

function fieldsOf(desc: DescMessage): Fields {
  const read = known.get(desc);
  if (read !== undefined) return read;
  const fields = new Map<number, Field>();
  // Known before its fields are read: a message may hold its own kind.
  known.set(desc, fields);
  for (const field of desc.fields) fields.set(field.number, readField(field));
  return fields;
}

function readField(field: DescField): Field {
  if (field.fieldKind === "map") return lengthDelimited(readEntry(field));
  if (field.message !== undefined) return lengthDelimited(fieldsOf(field.message));
  const wire = wireOf(field.scalar);
  return { wire, packedItem: field.fieldKind === "list" ? smallestOf(wire) : 0, message: null };
}

/** An entry of a map is a message with the key as its field 1 and the value as its field 2. */
function readEntry(field: DescField & { fieldKind: "map" }): Fields {
  const key: Field = { wire: wireOf(field.mapKey), packedItem: 0, message: null };
  const value: Field =
    field.message === undefined
      ? { wire: wireOf(field.scalar), packedItem: 0, message: null }
      : lengthDelimited(fieldsOf(field.message));
  return new Map([
    [1, key],
    [2, value],
  ]);
}

function lengthDelimited(message: Fields): Field {
  return { wire: LENGTH_DELIMITED, packedItem: 0, message };
}

/** The bytes of the smallest item of a packed list; 0 where the items cannot be packed. */
function smallestOf(wire: number): number {
  if (wire === LENGTH_DELIMITED) return 0;
  if (wire === VARINT) return 1;
  return wire === FIXED32 ? 4 : 8;
}

const IN_64_BITS: ReadonlySet<ScalarType | undefined> = new Set([
  ScalarType.DOUBLE,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);
const IN_32_BITS: ReadonlySet<ScalarType | undefined> = new Set([
  ScalarType.FLOAT,
  ScalarType.FIXED32,
  ScalarType.SFIXED32,
]);

/** How a value is encoded; an enumeration, which has no scalar type, is a number. */
function wireOf(scalar: ScalarType | undefined): number {
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return LENGTH_DELIMITED;
  if (IN_64_BITS.has(scalar)) return FIXED64;
  return IN_32_BITS.has(scalar) ? FIXED32 : VARINT;
}
