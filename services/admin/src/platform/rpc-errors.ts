import { Code, type ErrorDetail, RpcError } from "@flyte-ts/rpc";

/** Error for a request that violates a rule: the message names the field and the rule. */
export function invalidArgument(message: string, details: readonly ErrorDetail[] = []): RpcError {
  return new RpcError(Code.INVALID_ARGUMENT, message, { details });
}

/** Error for a required field that is absent or empty. */
export function missingArgument(field: string): RpcError {
  return invalidArgument(`missing ${field}`);
}

export function notFound(message: string): RpcError {
  return new RpcError(Code.NOT_FOUND, message);
}

export function alreadyExists(message: string, details: readonly ErrorDetail[] = []): RpcError {
  return new RpcError(Code.ALREADY_EXISTS, message, { details });
}
