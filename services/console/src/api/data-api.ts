import type { RestClient } from "@flyte-ts/client/browser";
import type { CreateDownloadLocationResponseJson, CreateUploadLocationResponseJson } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import type { Scope } from "./scope.js";

/** A file that is to be uploaded. */
export interface UploadRequest {
  readonly name: string;
  /** MD5 of its content, 16 bytes. */
  readonly md5: Uint8Array;
  /** Folder of several files; default: one by the content of the file. */
  readonly folder?: string;
}

export interface DataApi {
  /** Signs an address to which a file can be uploaded. */
  createUploadLocation(scope: Scope, request: UploadRequest, signal: AbortSignal): Promise<CreateUploadLocationResponseJson>;
  /** Signs an address from which anyone may read an object for some minutes. */
  createDownloadLocation(address: string): Promise<CreateDownloadLocationResponseJson>;
}

const PATH = "/api/v1/dataproxy/artifact_urn";

export function dataApi(rest: RestClient): DataApi {
  return {
    createUploadLocation: ({ project, domain }, { name, md5, folder }, signal) => {
      const contentMd5 = btoa(String.fromCharCode(...md5));
      return rest.call(PATH, { method: "POST", body: { project, domain, filename: name, contentMd5, filenameRoot: folder ?? "" }, signal });
    },
    createDownloadLocation: (address) => rest.call(PATH, { query: { native_url: address } }),
  };
}
