import { parameter } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import { bucketLocation, bucketVersioning, createBucket, deleteBucket, headBucket, listBuckets } from "./buckets.js";
import type { OperationContext } from "./context.js";
import { deleteObject, deleteObjects } from "./delete-object.js";
import { listObjectsV1, listObjectsV2 } from "./list-objects.js";
import { abortUpload, completeUpload, copyPart, createUpload, listParts, listUploads, uploadPart } from "./multipart.js";
import { readObject } from "./read-object.js";
import { copyObject, putObject } from "./write-object.js";

/** An operation of the S3 protocol and its handler. */
export interface Operation {
  readonly name: string;
  readonly run: (context: OperationContext) => void | Promise<void>;
}

/** Parameters that select unsupported operations. */
const UNSUPPORTED_SUBRESOURCES = [
  "accelerate",
  "acl",
  "analytics",
  "attributes",
  "cors",
  "encryption",
  "intelligent-tiering",
  "inventory",
  "legal-hold",
  "lifecycle",
  "logging",
  "metrics",
  "notification",
  "object-lock",
  "ownershipControls",
  "policy",
  "policyStatus",
  "publicAccessBlock",
  "replication",
  "requestPayment",
  "restore",
  "retention",
  "select",
  "tagging",
  "torrent",
  "versionId",
  "versions",
  "website",
];

/** @throws S3Error NotImplemented or MethodNotAllowed. */
export function route({ request }: Pick<OperationContext, "request">): Operation {
  const unsupported = UNSUPPORTED_SUBRESOURCES.find((name) => parameter(request, name) !== undefined);
  if (unsupported !== undefined) throw new S3Error("NotImplemented", `this server does not support ?${unsupported}`);
  const operation = request.bucket === "" ? routeService(request.method) : request.key === "" ? routeBucket(request) : routeObject(request);
  if (operation === undefined) throw new S3Error("MethodNotAllowed");
  return operation;
}

type RoutedRequest = OperationContext["request"];

function routeService(method: string): Operation | undefined {
  return method === "GET" ? { name: "ListBuckets", run: listBuckets } : undefined;
}

function routeBucket(request: RoutedRequest): Operation | undefined {
  const has = (name: string) => parameter(request, name) !== undefined;
  switch (request.method) {
    case "GET":
      if (has("location")) return { name: "GetBucketLocation", run: bucketLocation };
      if (has("versioning")) return { name: "GetBucketVersioning", run: bucketVersioning };
      if (has("uploads")) return { name: "ListMultipartUploads", run: listUploads };
      if (parameter(request, "list-type") === "2") return { name: "ListObjectsV2", run: listObjectsV2 };
      return { name: "ListObjects", run: listObjectsV1 };
    case "HEAD":
      return { name: "HeadBucket", run: headBucket };
    case "PUT":
      return has("versioning") ? undefined : { name: "CreateBucket", run: createBucket };
    case "DELETE":
      return { name: "DeleteBucket", run: deleteBucket };
    case "POST":
      return has("delete") ? { name: "DeleteObjects", run: deleteObjects } : undefined;
    default:
      return undefined;
  }
}

function routeObject(request: RoutedRequest): Operation | undefined {
  const has = (name: string) => parameter(request, name) !== undefined;
  const copies = request.headers.has("x-amz-copy-source");
  switch (request.method) {
    case "GET":
      return has("uploadId") ? { name: "ListParts", run: listParts } : { name: "GetObject", run: readObject };
    case "HEAD":
      return { name: "HeadObject", run: readObject };
    case "PUT":
      if (has("uploadId")) return copies ? { name: "UploadPartCopy", run: copyPart } : { name: "UploadPart", run: uploadPart };
      return copies ? { name: "CopyObject", run: copyObject } : { name: "PutObject", run: putObject };
    case "DELETE":
      return has("uploadId") ? { name: "AbortMultipartUpload", run: abortUpload } : { name: "DeleteObject", run: deleteObject };
    case "POST":
      if (has("uploads")) return { name: "CreateMultipartUpload", run: createUpload };
      return has("uploadId") ? { name: "CompleteMultipartUpload", run: completeUpload } : undefined;
    default:
      return undefined;
  }
}
