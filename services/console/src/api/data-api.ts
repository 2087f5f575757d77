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

/** Signed address for an upload, and the address of the file after it. */
export interface UploadLocation {
  readonly signedUrl: string;
  readonly nativeUrl: string;
  /** Headers that the upload must send. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface DataApi {
  /** Signs an address to which a file can be uploaded. */
  createUploadLocation(scope: Scope, request: UploadRequest, signal: AbortSignal): Promise<UploadLocation>;
  /** Signs an address from which anyone may read an object for some minutes. */
  createDownloadLocation(address: string): Promise<CreateDownloadLocationResponseJson>;
}

const PATH = "/api/v1/dataproxy/artifact_urn";

export function dataApi(rest: RestClient): DataApi {
  return {
    createUploadLocation: async ({ project, domain }, { name, md5, folder }, signal) => {
      const contentMd5 = btoa(String.fromCharCode(...md5));
      const body = { project, domain, filename: name, contentMd5, filenameRoot: folder ?? "" };
      const answer = await rest.call<CreateUploadLocationResponseJson>(PATH, { method: "POST", body, signal });
      return { signedUrl: answer.signedUrl ?? "", nativeUrl: answer.nativeUrl ?? "", headers: answer.headers ?? {} };
    },
    createDownloadLocation: (address) => rest.call(PATH, { query: { native_url: address } }),
  };
}
