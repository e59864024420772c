// grpc.reflection.v1 and v1alpha, so that a tool such as grpcurl needs no .proto files. It shows the contracts and nothing more.
// It needs no credentials, and answers are a thousand times as long as questions: they are encoded once, and a stream gets each
// file once.

import { createRegistry, toBinary, type DescFile, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "#gen/grpc/reflection/v1/reflection_pb.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { OpenCalls } from "./open-calls.ts";

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;
type Question = ServerReflectionRequest["messageRequest"];

/** The most questions of one stream. A tool that lists everything asks some dozens. */
export const MAX_QUESTIONS = 200;
/** The most streams of a process. */
const MAX_STREAMS = 100;

/** The service name of older tools. Only the name differs: its messages are those of v1. */
export const ServerReflectionAlpha = underName(ServerReflection, "grpc.reflection.v1alpha.ServerReflection");

function underName<Service extends DescService>(service: Service, typeName: string): Service {
  const renamed = { ...service, typeName };
  return Object.assign(renamed, { methods: service.methods.map((method) => ({ ...method, parent: renamed })) });
}

/** Answers questions about the given services and every file they are built from. */
export function createReflection(reflected: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const contracts = new Contracts(reflected);
  const streams = new OpenCalls(MAX_STREAMS);
  return {
    async *serverReflectionInfo(requests) {
      const end = streams.open();
      const sent = new Set<DescFile>();
      let left = MAX_QUESTIONS;
      try {
        for await (const request of requests) {
          if (left === 0) throw tooManyQuestions();
          left -= 1;
          const messageResponse = contracts.answer(request.messageRequest, sent);
          yield { validHost: request.host, originalRequest: request, messageResponse };
        }
      } finally {
        end();
      }
    },
  };
}

class Contracts {
  readonly #services: { readonly name: string }[];
  /** Every file by its name, with its bytes. */
  readonly #files: ReadonlyMap<string, DescFile>;
  readonly #encoded: ReadonlyMap<DescFile, Uint8Array>;
  readonly #registry: ReturnType<typeof createRegistry>;

  constructor(reflected: readonly DescService[]) {
    this.#services = reflected.map((service) => ({ name: service.typeName }));
    this.#files = withImports(reflected.map((service) => service.file));
    this.#encoded = new Map(
      [...this.#files.values()].map((file) => [file, toBinary(FileDescriptorProtoSchema, file.proto)]),
    );
    this.#registry = createRegistry(...this.#files.values());
  }

  /** The answer to one question; `sent` are the files that the stream has got already. */
  answer(question: Question, sent: Set<DescFile>): Answer {
    switch (question.case) {
      case "listServices":
        return { case: "listServicesResponse", value: { service: this.#services } };
      case "fileByFilename":
        return this.#fileAnswer(this.#files.get(question.value), sent);
      case "fileContainingSymbol":
        return this.#fileAnswer(this.#fileOf(question.value), sent);
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = question.value;
        const extendee = this.#registry.getMessage(containingType);
        return this.#fileAnswer(extendee && this.#registry.getExtensionFor(extendee, extensionNumber)?.file, sent);
      }
      case "allExtensionNumbersOfType":
        return this.#registry.getMessage(question.value) === undefined
          ? notFound
          : {
              case: "allExtensionNumbersResponse",
              value: { baseTypeName: question.value, extensionNumber: this.#extensionNumbers(question.value) },
            };
      case undefined:
        break;
    }
    return { case: "errorResponse", value: { errorCode: Code.InvalidArgument, errorMessage: "Nothing was asked." } };
  }

  /** The file that declares a type, a service, or a member of one, such as `pkg.Service.Method`. */
  #fileOf(symbol: string): DescFile | undefined {
    const owner = symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")));
    return (this.#registry.get(symbol) ?? this.#registry.get(owner))?.file;
  }

  #extensionNumbers(typeName: string): number[] {
    return [...this.#files.values()]
      .flatMap((file) => file.extensions)
      .filter((extension) => extension.extendee.typeName === typeName)
      .map((extension) => extension.number);
  }

  /** A file with those of its imports that the stream has not got: its client can build it without another question. */
  #fileAnswer(file: DescFile | undefined, sent: Set<DescFile>): Answer {
    if (file === undefined) return notFound;
    const wanted = [...withImports([file]).values()].filter((each) => each === file || !sent.has(each));
    wanted.forEach((each) => sent.add(each));
    return {
      case: "fileDescriptorResponse",
      value: { fileDescriptorProto: wanted.flatMap((each) => this.#encoded.get(each) ?? []) },
    };
  }
}

function tooManyQuestions(): ValidationError {
  const message = `must be at most ${MAX_QUESTIONS} on one stream`;
  return new ValidationError([{ field: "", rule: "stream.questions", message }]);
}

const notFound: Answer = {
  case: "errorResponse",
  value: { errorCode: Code.NotFound, errorMessage: "There is nothing of this name." },
};

function withImports(roots: readonly DescFile[], found = new Map<string, DescFile>()): Map<string, DescFile> {
  for (const file of roots) {
    if (found.has(file.proto.name)) continue;
    found.set(file.proto.name, file);
    withImports(file.dependencies, found);
  }
  return found;
}
