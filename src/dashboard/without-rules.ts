// Removes the field rules from the contracts that browsers load: only the server checks by them, and they are a tenth
// of the contracts' compressed size.

import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import {
  type DescriptorProto,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  MessageOptionsSchema,
  OneofOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import type { Plugin } from "vite";

const CONTRACT = /\/gen\/saldo\/.+_pb\.ts$/;
const DESCRIPTOR = /\bfileDesc\("([^"]+)"/;
/** Rules are in the options of messages, fields and oneofs, always under this number. */
const RULES = 1_159;

/** Removes them from each contract as it is loaded. */
export function withoutRules(): Plugin {
  return {
    name: "saldo-without-rules",
    transform: (code, id) =>
      CONTRACT.test(id) ? code.replace(DESCRIPTOR, (_all, packed: string) => `fileDesc("${strip(packed)}"`) : null,
  };
}

function strip(packed: string): string {
  const file = fromBinary(FileDescriptorProtoSchema, base64Decode(packed));
  for (const message of file.messageType) stripMessage(message);
  return base64Encode(toBinary(FileDescriptorProtoSchema, file), "std_raw");
}

function stripMessage(message: DescriptorProto): void {
  for (const nested of message.nestedType) stripMessage(nested);
  stripOptions(MessageOptionsSchema, message);
  for (const field of message.field) stripOptions(FieldOptionsSchema, field);
  for (const choice of message.oneofDecl) stripOptions(OneofOptionsSchema, choice);
}

function stripOptions<Options extends DescMessage>(
  schema: Options,
  of: { options?: MessageShape<Options> | undefined },
): void {
  const { options } = of;
  if (options === undefined) return;
  const others = (options.$unknown ?? []).filter(({ no }) => no !== RULES);
  if (others.length > 0) options.$unknown = others;
  else delete options.$unknown;
  if (toBinary(schema, options).length === 0) delete of.options;
}
