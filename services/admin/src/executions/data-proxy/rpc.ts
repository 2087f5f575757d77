import type { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { DataDeps } from "../execution/data.js";
import { createDownloadLink, createDownloadLocation, type DownloadDeps } from "./download.js";
import { getData } from "./get-data.js";
import { createUploadLocation, type UploadDeps } from "./upload.js";

/** Access to the blob store for clients without credentials for it. */
export function dataProxyRpcs(deps: DataDeps & DownloadDeps & UploadDeps): ServiceImplementation<typeof DataProxyService> {
  return {
    createUploadLocation: (request) => createUploadLocation(deps, request),
    createDownloadLocation: (request) => createDownloadLocation(deps, request),
    createDownloadLink: (request) => createDownloadLink(deps, request),
    getData: ({ flyteUrl }) => getData(deps, flyteUrl),
  };
}
