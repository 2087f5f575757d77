import type { DescMethod } from "@bufbuild/protobuf";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { type RequestLimits, SMALL_REQUEST } from "@flyte-ts/rpc";

/** Requests that carry outputs of tasks. */
const LARGE: ReadonlySet<DescMethod> = new Set([DataCatalog.method.createArtifact, DataCatalog.method.updateArtifact]);
const LARGE_ELEMENTS = 1_000_000;

/**
 * Limits of the catalog's requests: outputs may be as large as configured, all other requests only
 * name objects.
 */
export function catalogLimits(maxMessageBytes: number): RequestLimits {
  const large = { ...SMALL_REQUEST, bytes: maxMessageBytes, elements: LARGE_ELEMENTS };
  return (method) => (LARGE.has(method) ? large : SMALL_REQUEST);
}
