import { type BlobAccess, BlobFailure, type ByteRange, checkSize, collect } from "./blob-access.js";
import { responsePieces } from "./response-pieces.js";
import { withRetries } from "./with-retries.js";

/** Status of an answer that has the requested range. */
const PARTIAL_CONTENT = 206;

/** Files at `https://` and `http://`, for reading alone; no credentials are sent. */
export const webBlobs: BlobAccess = {
  read: async (uri, { maxBytes }) => {
    const response = await get(uri, {});
    if (response === undefined) return undefined;
    checkSize(uri, Number(response.headers.get("content-length") ?? 0), maxBytes);
    return collect(uri, responsePieces(uri, response.body), maxBytes);
  },
  stream: async (uri, range = {}) => {
    const headers = rangeHeaders(range);
    const response = await get(uri, headers);
    if (response === undefined) return undefined;
    if (headers["range"] !== undefined && response.status !== PARTIAL_CONTENT)
      throw new BlobFailure(uri, "the server returns no parts of files", { transient: false });
    return responsePieces(uri, response.body);
  },
  size: async (uri) => {
    const response = await get(uri, {}, "HEAD");
    const length = response?.headers.get("content-length");
    return length === null || length === undefined ? undefined : Number(length);
  },
  write: (uri) => Promise.reject(readOnly(uri)),
  writeStream: (uri) => Promise.reject(readOnly(uri)),
  list: (prefix) => {
    throw new BlobFailure(prefix, "files of a web server cannot be listed", { transient: false });
  },
};

/** Returns the header for a part; no header for the whole. */
export function rangeHeaders({ offset = 0, length }: ByteRange): Record<string, string> {
  if (offset === 0 && length === undefined) return {};
  return { range: `bytes=${offset}-${length === undefined ? "" : offset + length - 1}` };
}

/** Returns the answer; undefined for 404 and 410. */
function get(uri: string, headers: Record<string, string>, method = "GET"): Promise<Response | undefined> {
  return withRetries(async () => {
    let response: Response;
    try {
      response = await fetch(uri, { method, headers: { "accept-encoding": "identity", ...headers } });
    } catch (cause) {
      throw new BlobFailure(uri, String((cause as Error).cause ?? cause), { transient: true, cause });
    }
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404 || response.status === 410) return undefined;
    const transient = response.status >= 500 || response.status === 429 || response.status === 408;
    throw new BlobFailure(uri, `the server answers ${response.status}`, { transient });
  });
}

const readOnly = (uri: string) => new BlobFailure(uri, "files of a web server can only be read", { transient: false });
