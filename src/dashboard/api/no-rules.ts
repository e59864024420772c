// Replaces the descriptors of the field rules in the built pages. The contracts import them, but only the server checks
// by them: a browser would load and parse them for nothing.

import { create, toBinary } from "@bufbuild/protobuf";
import { type GenFile, fileDesc } from "@bufbuild/protobuf/codegenv2";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

const named = create(FileDescriptorProtoSchema, { name: "buf/validate/validate.proto" });

/** A file descriptor of that name without content. */
export const file_buf_validate_validate: GenFile = fileDesc(base64Encode(toBinary(FileDescriptorProtoSchema, named)));
