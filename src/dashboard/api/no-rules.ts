// Stands in the built pages for the descriptors of the rules of fields. The contracts name that file, but only the server
// checks by it: a browser would load and read them to never look at them.

import { create, toBinary } from "@bufbuild/protobuf";
import { type GenFile, fileDesc } from "@bufbuild/protobuf/codegenv2";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

const named = create(FileDescriptorProtoSchema, { name: "buf/validate/validate.proto" });

/** A file of that name with nothing in it. */
export const file_buf_validate_validate: GenFile = fileDesc(base64Encode(toBinary(FileDescriptorProtoSchema, named)));
