import { Code, type ErrorDetail, RpcError } from "@flyte-ts/rpc";

/** The request breaks a rule: the message names the field and the rule. */
export function invalidArgument(message: string, details: readonly ErrorDetail[] = []): RpcError {
  return new RpcError(Code.INVALID_ARGUMENT, message, { details });
}

/** A field that must be given is absent or empty. */
export function missingArgument(field: string): RpcError {
  return invalidArgument(`missing ${field}`);
}

export function notFound(message: string): RpcError {
  return new RpcError(Code.NOT_FOUND, message);
}

export function alreadyExists(message: string, details: readonly ErrorDetail[] = []): RpcError {
  return new RpcError(Code.ALREADY_EXISTS, message, { details });
}
