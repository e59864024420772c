// grpc.reflection.v1, so that a tool such as grpcurl needs no .proto files. It tells what the contracts say, nothing more.

import { createRegistry, toBinary, type DescFile, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type {
  ServerReflection,
  ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from "#gen/grpc/reflection/v1/reflection_pb.ts";

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;
type Question = ServerReflectionRequest["messageRequest"];

/** Answers questions about the given services and every file they are built from. */
export function createReflection(reflected: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const files = withImports(reflected.map((service) => service.file));
  const registry = createRegistry(...files.values());

  /** The file that declares a type, a service, or a member of one, such as `pkg.Service.Method`. */
  const fileOf = (symbol: string): DescFile | undefined =>
    (registry.get(symbol) ?? registry.get(symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")))))?.file;

  const extensionNumbers = (typeName: string): number[] =>
    [...files.values()]
      .flatMap((file) => file.extensions)
      .filter((extension) => extension.extendee.typeName === typeName)
      .map((extension) => extension.number);

  function answer(question: Question): Answer {
    switch (question.case) {
      case "listServices":
        return {
          case: "listServicesResponse",
          value: { service: reflected.map((service) => ({ name: service.typeName })) },
        };
      case "fileByFilename":
        return fileAnswer(files.get(question.value));
      case "fileContainingSymbol":
        return fileAnswer(fileOf(question.value));
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = question.value;
        const extendee = registry.getMessage(containingType);
        return fileAnswer(extendee && registry.getExtensionFor(extendee, extensionNumber)?.file);
      }
      case "allExtensionNumbersOfType":
        return registry.getMessage(question.value) === undefined
          ? notFound
          : {
              case: "allExtensionNumbersResponse",
              value: { baseTypeName: question.value, extensionNumber: extensionNumbers(question.value) },
            };
      case undefined:
        break;
    }
    return { case: "errorResponse", value: { errorCode: Code.InvalidArgument, errorMessage: "Nothing was asked." } };
  }

  return {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield { validHost: request.host, originalRequest: request, messageResponse: answer(request.messageRequest) };
      }
    },
  };
}

const notFound: Answer = {
  case: "errorResponse",
  value: { errorCode: Code.NotFound, errorMessage: "There is nothing of this name." },
};

/** A file with everything it imports: a client can build it without asking again. */
function fileAnswer(file: DescFile | undefined): Answer {
  if (file === undefined) return notFound;
  const wanted = [...withImports([file]).values()];
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: wanted.map((each) => toBinary(FileDescriptorProtoSchema, each.proto)) },
  };
}

function withImports(roots: readonly DescFile[], found = new Map<string, DescFile>()): Map<string, DescFile> {
  for (const file of roots) {
    if (found.has(file.proto.name)) continue;
    found.set(file.proto.name, file);
    withImports(file.dependencies, found);
  }
  return found;
}
