import { fromBinary, type DescMessage, type Message } from "@bufbuild/protobuf";
import { Code } from "../code.js";
import { RpcError } from "../rpc-error.js";

/**
 * Decodes a request. A malformed one (truncated, invalid UTF-8, nested too deep) is the caller's
 * error.
 */
export function decodeRequest(
  schema: DescMessage,
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => Message = (all) => fromBinary(schema, all),
): Message {
  try {
    return decode(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RpcError(Code.INVALID_ARGUMENT, `request is not a valid ${schema.typeName}: ${reason}`, { cause: error });
  }
}
