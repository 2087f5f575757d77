import type { DataApi } from "../api/data-api.js";
import type { Scope } from "../api/scope.js";
import { createMd5 } from "./md5.js";

const CHUNK_BYTES = 4 * 1024 * 1024;
/** Headers that browsers set themselves. */
const FORBIDDEN = ["content-length", "host"];

/** Sends a file to a signed address. Throws when the blob store refuses it or cannot be reached. */
export type PutFile = (target: PutTarget, file: Blob, progress: (bytes: number) => void, signal: AbortSignal) => Promise<void>;

export interface PutTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SendFilesOptions {
  readonly api: DataApi;
  readonly scope: Scope;
  readonly put: PutFile;
  /** Name of the folder of several files. */
  readonly folder: string;
}

/**
 * Uploads files straight to the blob store, each checked there by its MD5, and reports the share
 * that has been sent. Resolves to the address of one file, or of the folder of several.
 */
export async function sendFiles(
  { api, scope, put, folder }: SendFilesOptions,
  files: readonly File[],
  progress: (share: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const total = Math.max(
    1,
    files.reduce((sum, { size }) => sum + size, 0),
  );
  const isFolder = files.some(({ webkitRelativePath }) => webkitRelativePath !== "") || files.length > 1;
  let sent = 0;
  let address = "";
  for (const file of files) {
    const name = isFolder ? nameInFolder(file) : file.name;
    const location = await api.createUploadLocation(scope, { name, md5: await md5Of(file, signal), ...(isFolder && { folder }) }, signal);
    const headers = Object.fromEntries(Object.entries(location.headers).filter(([header]) => !FORBIDDEN.includes(header.toLowerCase())));
    await put({ url: location.signedUrl, headers }, file, (bytes) => progress((sent + bytes) / total), signal);
    sent += file.size;
    progress(sent / total);
    const own = location.nativeUrl;
    address = isFolder ? own.slice(0, -name.length - 1) : own;
  }
  return address;
}

/** Path of a file below the chosen folder. */
function nameInFolder({ webkitRelativePath, name }: File): string {
  return webkitRelativePath === "" ? name : webkitRelativePath.split("/").slice(1).join("/");
}

async function md5Of(file: Blob, signal: AbortSignal): Promise<Uint8Array> {
  const md5 = createMd5();
  for (let at = 0; at < file.size; at += CHUNK_BYTES) {
    signal.throwIfAborted();
    md5.update(new Uint8Array(await file.slice(at, at + CHUNK_BYTES).arrayBuffer()));
  }
  return md5.digest();
}

/** Puts a file by XMLHttpRequest, since `fetch` does not report how much has been sent. */
export const putFile: PutFile = (target, file, progress, signal) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", target.url);
    for (const [header, value] of Object.entries(target.headers)) request.setRequestHeader(header, value);
    request.upload.onprogress = ({ loaded }) => progress(loaded);
    request.onload = () =>
      request.status < 300
        ? resolve()
        : reject(new Error(`The blob store refused the file: HTTP ${request.status}. Try again, or write an address.`));
    request.onerror = () =>
      reject(
        new Error(
          `The blob store at ${new URL(target.url).origin} cannot be reached from this page. Add it to admin's console.blobOrigins and allow this origin there (CORS), or write an address.`,
        ),
      );
    signal.addEventListener("abort", () => {
      request.abort();
      reject(signal.reason as Error);
    });
    request.send(file);
  });
