import { pipeline } from "node:stream/promises";
import { checkRead, readRange } from "./conditions.js";
import type { OperationContext } from "./context.js";
import { objectHeaders } from "./object-headers.js";

/** GetObject and HeadObject. */
export async function readObject(context: OperationContext): Promise<void> {
  const { request, response, store } = context;
  await using object = await store.open(request.bucket, request.key);
  const headers = objectHeaders(request, object);
  if (!checkRead(request.headers, { etag: object.info.etag, modifiedAt: object.modifiedAt })) {
    response.writeHead(304, { etag: headers["etag"] ?? "", "last-modified": headers["last-modified"] ?? "" }).end();
    return;
  }
  const range = readRange(request.headers.get("range"), object.size);
  const length = range === undefined ? object.size : range.end - range.start + 1;
  response.writeHead(range === undefined ? 200 : 206, {
    ...headers,
    "content-length": length,
    ...(range === undefined ? {} : { "content-range": `bytes ${range.start}-${range.end}/${object.size}` }),
  });
  if (request.method === "HEAD" || length === 0) response.end();
  else if (object.content !== undefined)
    response.end(range === undefined ? object.content : object.content.subarray(range.start, range.end + 1));
  else {
    const start = range?.start ?? 0;
    await pipeline(
      object.handle.createReadStream({ start, end: start + length - 1, autoClose: false, highWaterMark: 256 * 1024 }),
      response,
    );
  }
}
