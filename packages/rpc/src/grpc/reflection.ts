import { create, fromBinary, toBinary, type DescFile, type DescMessage, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  ServerReflection,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "@flyte-ts/idl/grpc/reflection/v1/reflection_pb";
import {
  ServerReflection as ServerReflectionAlpha,
  ServerReflectionRequestSchema as AlphaRequestSchema,
  ServerReflectionResponseSchema as AlphaResponseSchema,
} from "@flyte-ts/idl/grpc/reflection/v1alpha/reflection_pb";
import { Code } from "../code.js";
import { implement, type ServedService } from "../service.js";

type ReflectionResponse = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;
type ReflectionRequest = ServerReflectionRequest["messageRequest"];

/**
 * Server reflection, v1 and v1alpha, over the descriptors of the services and of all their imports.
 */
export function createReflection(services: readonly DescService[]): ServedService[] {
  const all = [...services, ServerReflection, ServerReflectionAlpha];
  const index = indexFiles(all.map((service) => service.file));
  const names = all.map((service) => service.typeName).sort();
  const answer = (request: ServerReflectionRequest): ServerReflectionResponse =>
    create(ServerReflectionResponseSchema, {
      validHost: request.host,
      originalRequest: request,
      messageResponse: respondTo(request.messageRequest, index, names),
    });
  return [
    implement(ServerReflection, {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) yield answer(request);
      },
    }),
    implement(ServerReflectionAlpha, {
      // The two versions are the same on the wire and differ only in their names.
      async *serverReflectionInfo(requests) {
        for await (const request of requests) {
          const given = fromBinary(ServerReflectionRequestSchema, toBinary(AlphaRequestSchema, request));
          yield fromBinary(AlphaResponseSchema, toBinary(ServerReflectionResponseSchema, answer(given)));
        }
      },
    }),
  ];
}

interface Index {
  readonly byPath: ReadonlyMap<string, DescFile>;
  readonly bySymbol: ReadonlyMap<string, DescFile>;
  /** Extended message → number → file. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
  readonly messages: ReadonlyMap<string, DescMessage>;
}

function respondTo(query: ReflectionRequest, index: Index, names: readonly string[]): ReflectionResponse {
  switch (query.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return filesFrom(index.byPath.get(query.value));
    case "fileContainingSymbol":
      return filesFrom(index.bySymbol.get(query.value));
    case "fileContainingExtension":
      return filesFrom(index.extensions.get(query.value.containingType)?.get(query.value.extensionNumber));
    case "allExtensionNumbersOfType": {
      if (!index.messages.has(query.value)) return notFound();
      const numbers = [...(index.extensions.get(query.value)?.keys() ?? [])].sort((a, b) => a - b);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: query.value, extensionNumber: numbers } };
    }
    case undefined:
      return { case: "errorResponse", value: { errorCode: Code.INVALID_ARGUMENT, errorMessage: "message_request must be set" } };
  }
}

function notFound(): ReflectionResponse {
  return { case: "errorResponse", value: { errorCode: Code.NOT_FOUND, errorMessage: "proto: not found" } };
}

/** Returns the file and, after it, all its imports: a client needs no second request. */
function filesFrom(file: DescFile | undefined): ReflectionResponse {
  if (!file) return notFound();
  const closure = new Set([file]);
  for (const each of closure) for (const dependency of each.dependencies) closure.add(dependency);
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: [...closure].map((each) => toBinary(FileDescriptorProtoSchema, each.proto)) },
  };
}

function indexFiles(roots: readonly DescFile[]): Index {
  const byPath = new Map<string, DescFile>();
  const bySymbol = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();
  const messages = new Map<string, DescMessage>();
  const closure = new Set(roots);
  for (const file of closure) {
    for (const dependency of file.dependencies) closure.add(dependency);
    byPath.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      bySymbol.set(type.typeName, file);
      switch (type.kind) {
        case "message":
          messages.set(type.typeName, type);
          for (const member of [...type.fields, ...type.oneofs]) bySymbol.set(`${type.typeName}.${member.name}`, file);
          break;
        case "enum":
          // An enum's values are siblings of the enum, as in C++.
          for (const value of type.values) bySymbol.set(`${type.typeName.slice(0, type.typeName.lastIndexOf(".") + 1)}${value.name}`, file);
          break;
        case "service":
          for (const method of type.methods) bySymbol.set(`${type.typeName}.${method.name}`, file);
          break;
        case "extension": {
          const known = extensions.get(type.extendee.typeName) ?? new Map<number, DescFile>();
          extensions.set(type.extendee.typeName, known.set(type.number, file));
          break;
        }
      }
    }
  }
  return { byPath, bySymbol, extensions, messages };
}
