import { create } from "@bufbuild/protobuf";
import { type DatasetID, DatasetIDSchema } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { requireNonEmpty, missingArgument } from "../rpc-errors.js";

/** The four names of a dataset's key. */
export interface DatasetKey {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly version: string;
}

/** @throws RpcError INVALID_ARGUMENT naming the field that is missing. */
export function checkDatasetId(id: DatasetID | undefined): asserts id is DatasetID {
  if (id === undefined) throw missingArgument("dataset");
  requireNonEmpty(id.project, "project");
  requireNonEmpty(id.domain, "domain");
  requireNonEmpty(id.name, "name");
  requireNonEmpty(id.version, "version");
}

export function datasetText({ project, domain, name, version }: DatasetKey): string {
  return `${project}/${domain}/${name}/${version}`;
}

export function datasetIdOf({ project, domain, name, version, uuid }: DatasetKey & { readonly uuid: string }): DatasetID {
  return create(DatasetIDSchema, { project, domain, name, version, UUID: uuid });
}
