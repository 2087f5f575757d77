import type { ExecutionCreateRequestJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { FieldType } from "../literal/type/field-type.js";

/** A launch, as commands describe it. */
export interface LaunchFacts {
  readonly request: ExecutionCreateRequestJson;
  readonly inputs: readonly CommandInput[];
  readonly kind: "launch plan" | "task";
  /** Origin of the API: `https://flyte.example.com`. */
  readonly origin: string;
}

export interface CommandInput {
  readonly name: string;
  readonly type: FieldType;
  readonly literal: LiteralJson;
}

/** Host and port of the API, as clients take them. */
export function endpointOf({ origin }: Pick<LaunchFacts, "origin">): { readonly host: string; readonly insecure: boolean } {
  const { host, protocol, port } = new URL(origin);
  const insecure = protocol === "http:";
  return { host: port === "" ? `${host}:${insecure ? 80 : 443}` : host, insecure };
}
