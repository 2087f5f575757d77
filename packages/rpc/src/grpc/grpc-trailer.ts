import { toBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "@flyte-ts/idl/google/rpc/status_pb";
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { truncateUtf8, MAX_MESSAGE_BYTES, type RpcError } from "../rpc-error.js";

const DETAILS_TRAILER = "grpc-status-details-bin";

/**
 * Converts an error to the status of a gRPC call. Text and details together stay within
 * {@link MAX_MESSAGE_BYTES} in wire form (the text is percent-encoded, the details are base64),
 * since a client drops a call whose trailers pass its limit and its user would see no reason at
 * all. Text and details carry the same message, as Python's grpc-status requires.
 */
export function errorStatus(error: RpcError): StatusObject {
  const metadata = new Metadata();
  const status = error.toStatus();
  const detailed = status.details.length > 0;
  const size = (text: string): number => {
    const plain = encodeURI(text).length;
    return detailed ? plain + base64Length(toBinary(StatusSchema, { ...status, message: text }).length) : plain;
  };
  status.message = fit(status.message, size);
  if (detailed && size(status.message) <= MAX_MESSAGE_BYTES) metadata.set(DETAILS_TRAILER, Buffer.from(toBinary(StatusSchema, status)));
  return { code: error.code, details: status.message, metadata };
}

/** Details of a failed call, if present. */
export function statusDetails(metadata: Metadata): Uint8Array | undefined {
  const value = metadata.get(DETAILS_TRAILER)[0];
  return value instanceof Uint8Array ? value : undefined;
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Longest prefix of a text whose size is within the limit. */
function fit(text: string, size: (text: string) => number): string {
  if (size(text) <= MAX_MESSAGE_BYTES) return text;
  let low = 0;
  let high = Buffer.byteLength(text, "utf8");
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (size(truncateUtf8(text, middle)) <= MAX_MESSAGE_BYTES) low = middle;
    else high = middle - 1;
  }
  return truncateUtf8(text, low);
}
