import type { NamedEntityIdentifier } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { invalidArgument, missingArgument } from "./rpc-errors.js";

/** Returns `TASK` for 1; the number itself when the enum has no name for it. */
export function resourceTypeName(type: ResourceType): string {
  return ResourceType[type] ?? String(type);
}

/** Formats `TASK p:d:n:v`, for messages. */
export function identifierText(id: Identifier): string {
  return `${resourceTypeName(id.resourceType)} ${id.project}:${id.domain}:${id.name}:${id.version}`;
}

/** Validates a required text. PostgreSQL cannot store NUL characters. */
export function checkText(value: string, field: string): void {
  if (value === "") throw missingArgument(field);
  if (value.includes("\0")) throw invalidArgument(`invalid value for ${field}: NUL characters are not allowed`);
}

/**
 * Maximum length of a part of an identifier, bytes of UTF-8: several of them must fit into one
 * index entry.
 */
const MAX_NAME_BYTES = 512;

/** Validates a required text of an index key. */
export function checkName(value: string, field: string): void {
  checkText(value, field);
  if (Buffer.byteLength(value) > MAX_NAME_BYTES) throw invalidArgument(`${field} cannot exceed ${MAX_NAME_BYTES} bytes`);
}

/**
 * Validates the identifier of one version of an entity: its resource type, and all its parts.
 *
 * @throws RpcError INVALID_ARGUMENT naming the part.
 */
export function checkIdentifier(id: Identifier | undefined, expected?: ResourceType): asserts id is Identifier {
  if (id === undefined) throw missingArgument("id");
  if (expected !== undefined && id.resourceType !== expected) {
    throw invalidArgument(
      `unexpected resource type ${resourceTypeName(id.resourceType).toLowerCase()} for identifier [${identifierText(id)}], ` +
        `expected ${resourceTypeName(expected).toLowerCase()} instead`,
    );
  }
  checkName(id.project, "project");
  checkName(id.domain, "domain");
  checkName(id.name, "name");
  checkName(id.version, "version");
}

/**
 * {@link checkIdentifier} for reads, where an unspecified resource type defaults to the expected
 * one.
 */
export function checkReadIdentifier(id: Identifier | undefined, expected: ResourceType): asserts id is Identifier {
  checkIdentifier(id, id?.resourceType === ResourceType.UNSPECIFIED ? undefined : expected);
}

export function checkNamedEntity(id: NamedEntityIdentifier | undefined): asserts id is NamedEntityIdentifier {
  if (id === undefined) throw missingArgument("id");
  checkName(id.project, "project");
  checkName(id.domain, "domain");
  checkName(id.name, "name");
}
