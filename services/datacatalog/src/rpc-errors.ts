import { Code, RpcError } from "@flyte-ts/rpc";

/** The request breaks a rule: the message names the field and the rule. */
export function invalidArgument(message: string): RpcError {
  return new RpcError(Code.INVALID_ARGUMENT, message);
}

/** A required field is absent or empty. */
export function missingArgument(field: string): RpcError {
  return invalidArgument(`missing ${field}`);
}

/** No entity has this name. */
export function missingEntity(type: string, identifier: string): RpcError {
  return new RpcError(Code.NOT_FOUND, `missing entity of type ${type} with identifier ${identifier}`);
}

export function alreadyExists(what: string): RpcError {
  return new RpcError(Code.ALREADY_EXISTS, `value with matching already exists (${what})`);
}

/** @throws RpcError INVALID_ARGUMENT when the text is empty. */
export function requireNonEmpty(text: string, field: string): void {
  if (text === "") throw missingArgument(field);
}
