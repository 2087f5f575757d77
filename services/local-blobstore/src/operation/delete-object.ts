import { readTextBody } from "../body/read-body.js";
import { S3Error } from "../http/s3-error.js";
import { childText, parseXml, type XmlElement } from "../http/xml.js";
import { type OperationContext, sendEmpty, sendXml } from "./context.js";

const MAX_KEYS = 1000;

/** DeleteObject. */
export async function deleteObject(context: OperationContext): Promise<void> {
  await context.store.delete(context.request.bucket, context.request.key);
  sendEmpty(context, 204);
}

/** DeleteObjects. */
export async function deleteObjects(context: OperationContext): Promise<void> {
  const { request, auth, store } = context;
  store.requireBucket(request.bucket);
  const document = parseXml(await readTextBody(request, auth, 4 * 1024 * 1024));
  const objects = document?.children.filter((child) => child.name === "Object") ?? [];
  if (document?.name !== "Delete" || objects.length === 0 || objects.length > MAX_KEYS) throw new S3Error("MalformedXML");
  const quiet = childText(document, "Quiet")?.trim() === "true";
  const results: XmlElement[] = [];
  for (const object of objects) {
    const key = childText(object, "Key");
    if (key === undefined) throw new S3Error("MalformedXML", "an object has no Key");
    const failure = await errorOf(() => store.delete(request.bucket, key));
    if (failure !== undefined)
      results.push([
        "Error",
        [
          ["Key", key],
          ["Code", failure.code],
          ["Message", failure.message],
        ],
      ]);
    else if (!quiet) results.push(["Deleted", [["Key", key]]]);
  }
  sendXml(context, ["DeleteResult", results]);
}

async function errorOf(work: () => Promise<void>): Promise<S3Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof S3Error ? error : new S3Error("InternalError");
  }
}
