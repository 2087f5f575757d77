import { createRegistry, fromBinary, toBinary, type DescMessage, type Message, type Registry } from "@bufbuild/protobuf";
import { type Status, StatusSchema } from "@flyte-ts/idl/google/rpc/status_pb";
import type { RpcError } from "../../rpc-error.js";
import { CAMEL_JSON, FRAMES } from "../stream/media-types.js";
import { readJsonRequest } from "./json-request.js";
import { writeJsonResponse } from "./json-response.js";

/**
 * Format of bodies: by Content-Type for requests, by Accept (else as the request) for responses.
 */
export interface Codec {
  readonly contentType: string;
  /** Distinguishes formats of the same content type, in entity tags. */
  readonly form: string;
  /** Undefined for an empty body. Throws when the body is not the message. */
  read(schema: DescMessage, body: Uint8Array): Message | undefined;
  write(schema: DescMessage, message: Message): Uint8Array | string;
  writeError(error: RpcError): Uint8Array | string;
}

export interface Codecs {
  /**
   * Chooses formats by the header values. Compares each line of Accept as a whole, so the lists
   * that browsers send match no format.
   */
  choose(headers: { readonly contentType: readonly string[]; readonly accept: readonly string[] }): {
    readonly request: Codec;
    readonly response: Codec;
  };
  /**
   * Returns the format of a response of several messages: JSON in place of protobuf, which has no
   * form for such a response.
   */
  streaming(response: Codec): Codec;
}

/**
 * The three formats of Flyte's gateway:
 * - `application/octet-stream`: the protobuf bytes, used by the console; also for the Accept of
 *   binary streams;
 * - `application/json`: names as in the .proto files, unknown fields refused;
 * - {@link CAMEL_JSON} and anything else, also no header: JSON with lowerCamelCase names, unknown
 *   fields ignored.
 */
export function createCodecs(registry: Registry): Codecs {
  const anything = jsonCodec({ protoNames: false, ignoreUnknown: true, registry });
  const named = new Map<string, Codec>([
    ["application/octet-stream", binaryCodec],
    // One message needs no frame.
    [FRAMES, binaryCodec],
    [CAMEL_JSON, anything],
    ["application/json", jsonCodec({ protoNames: true, ignoreUnknown: false, registry })],
  ]);
  return {
    choose({ contentType, accept }) {
      const request = contentType.map((value) => named.get(mediaType(value))).find((codec) => codec) ?? anything;
      const response = accept.map((value) => named.get(value)).find((codec) => codec) ?? request;
      return { request, response };
    },
    streaming: (response) => (response === binaryCodec ? anything : response),
  };
}

function mediaType(value: string): string {
  return (value.split(";")[0] ?? "").trim().toLowerCase();
}

const binaryCodec: Codec = {
  contentType: "application/octet-stream",
  form: "p",
  read: (schema, body) => fromBinary(schema, body),
  write: (schema, message) => toBinary(schema, message),
  writeError: (error) => toBinary(StatusSchema, error.toStatus()),
};

interface JsonCodecOptions {
  readonly protoNames: boolean;
  readonly ignoreUnknown: boolean;
  readonly registry: Registry;
}

function jsonCodec({ protoNames, ignoreUnknown, registry }: JsonCodecOptions): Codec {
  return {
    contentType: "application/json",
    form: protoNames ? "n" : "j",
    read(schema, body) {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
      return readJsonRequest(schema, text, { ignoreUnknown, registry });
    },
    write: (schema, message) => JSON.stringify(writeJsonResponse(schema, message, { protoNames, registry })),
    writeError(error) {
      const known = createRegistry(registry, ...error.details.map((detail) => detail.schema));
      return JSON.stringify(writeJsonResponse(StatusSchema, withKnownDetails(error.toStatus(), known), { protoNames, registry: known }));
    },
  };
}

/**
 * JSON needs the descriptor of each detail; an unknown one is omitted rather than failing the
 * answer.
 */
function withKnownDetails(status: Status, registry: Registry): Status {
  const known = status.details.filter((any) => registry.getMessage(any.typeUrl.slice(any.typeUrl.lastIndexOf("/") + 1)) !== undefined);
  return { ...status, details: known };
}
