import { compareText, protoText } from "@flyte-ts/domain/type";
import { type Identifier, IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";

/** Unique key of an identifier. */
export function keyOf({ resourceType, org, project, domain, name, version }: Identifier): string {
  return JSON.stringify([resourceType, org, project, domain, name, version]);
}

/** Formats an identifier for errors. */
export function identifierText(id: Identifier | undefined): string {
  return protoText(IdentifierSchema, id);
}

/** Orders lists of identifiers in closures and requirements. */
export function compareIdentifiers(a: Identifier, b: Identifier): number {
  return (
    a.resourceType - b.resourceType ||
    compareText(a.project, b.project) ||
    compareText(a.domain, b.domain) ||
    compareText(a.name, b.name) ||
    compareText(a.version, b.version) ||
    compareText(a.org, b.org)
  );
}
