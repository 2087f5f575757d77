import { S3Error } from "../http/s3-error.js";
import type { XmlElement } from "../http/xml.js";
import { type OperationContext, sendEmpty, sendXml } from "./context.js";

/** ListBuckets. */
export async function listBuckets(context: OperationContext): Promise<void> {
  const buckets = await context.store.buckets();
  const elements = buckets.map(
    ({ name, createdAt }): XmlElement => [
      "Bucket",
      [
        ["Name", name],
        ["CreationDate", createdAt.toISOString()],
      ],
    ],
  );
  sendXml(context, [
    "ListAllMyBucketsResult",
    [
      [
        "Owner",
        [
          ["ID", "local"],
          ["DisplayName", "local"],
        ],
      ],
      ["Buckets", elements],
    ],
  ]);
}

/** CreateBucket. The requested region is ignored. */
export async function createBucket(context: OperationContext): Promise<void> {
  const { bucket } = context.request;
  if (!(await context.store.createBucket(bucket))) throw new S3Error("BucketAlreadyOwnedByYou");
  sendEmpty(context, 200, { location: `/${bucket}` });
}

/** HeadBucket. */
export function headBucket(context: OperationContext): void {
  context.store.requireBucket(context.request.bucket);
  sendEmpty(context, 200, { "x-amz-bucket-region": context.auth.scope.region });
}

/** DeleteBucket. */
export async function deleteBucket(context: OperationContext): Promise<void> {
  await context.store.deleteBucket(context.request.bucket);
  sendEmpty(context, 204);
}

/** GetBucketLocation; S3 represents the default region by an empty element. */
export function bucketLocation(context: OperationContext): void {
  context.store.requireBucket(context.request.bucket);
  sendXml(context, ["LocationConstraint", ""]);
}

/** GetBucketVersioning; always disabled. */
export function bucketVersioning(context: OperationContext): void {
  context.store.requireBucket(context.request.bucket);
  sendXml(context, ["VersioningConfiguration", ""]);
}
