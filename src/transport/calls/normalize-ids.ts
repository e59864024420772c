// Writes ids as PostgreSQL does. A UUID is the same in capitals, and the rules of the contracts accept that; but references,
// prices and providers compare ids as texts.

import { type DescField, type DescMessage, getOption, hasOption, type Message } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** The rules of a text in the contracts that is an id or empty. */
const ID_OR_EMPTY = "^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$";

/** Which fields of a message are ids, and which hold messages that have some. */
type IdFields = { readonly ids: readonly DescField[]; readonly holders: readonly DescField[] };

/** Reading the rules takes longer than a call may, and a contract never changes while the process runs. */
const known = new Map<DescMessage, IdFields>();

/** Writes every id of a message in small letters, in place. */
export function writeIdsPlainly(desc: DescMessage, message: Message): void {
  if (idFieldsOf(desc).ids.length + idFieldsOf(desc).holders.length > 0) writeWithin(reflect(desc, message));
}

function writeWithin(message: ReflectMessage): void {
  const { ids, holders } = idFieldsOf(message.desc);
  for (const id of ids) {
    const written: unknown = message.get(id);
    if (typeof written !== "string") continue;
    const plain = written.toLowerCase();
    if (plain !== written) message.set(id, plain);
  }
  for (const holder of holders) {
    if (holder.fieldKind === "message" && message.isSet(holder)) writeWithin(message.get(holder));
    else if (holder.fieldKind === "list" && holder.listKind === "message") {
      for (const item of message.get(holder)) writeWithin(item as ReflectMessage);
    }
  }
}

function idFieldsOf(desc: DescMessage): IdFields {
  let fields = known.get(desc);
  if (fields === undefined) {
    const ids = desc.fields.filter(isId);
    const holders = desc.fields.filter(({ message }) => message !== undefined && hasIds(message, new Set([desc])));
    known.set(desc, (fields = { ids, holders }));
  }
  return fields;
}

/** Whether there are ids in it or below it. A message that holds itself adds nothing of its own there. */
function hasIds(desc: DescMessage, above: ReadonlySet<DescMessage>): boolean {
  if (above.has(desc)) return false;
  const path = new Set([...above, desc]);
  return desc.fields.some((each) => isId(each) || (each.message !== undefined && hasIds(each.message, path)));
}

function isId(field: DescField): boolean {
  if (!hasOption(field, fieldRules)) return false;
  const { type } = getOption(field, fieldRules);
  return type.case === "string" && (type.value.wellKnown.case === "uuid" || type.value.pattern === ID_OR_EMPTY);
}
