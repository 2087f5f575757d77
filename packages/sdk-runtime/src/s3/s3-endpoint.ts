import { BlobFailure } from "../blob/blob-access.js";
import type { Environment } from "./credentials.js";
import { encodeStrictly } from "./sign.js";

const DEFAULT_REGION = "us-east-1";

/** Address of an object or of a bucket. */
export interface S3Location {
  readonly uri: string;
  readonly bucket: string;
  /** Not decoded; empty for the bucket. */
  readonly key: string;
}

/** Parses `s3://bucket/key`, also with the scheme s3a. */
export function parseS3Uri(uri: string): S3Location {
  const [, bucket, key = ""] = /^s3a?:\/\/([^/]+)(?:\/(.*))?$/s.exec(uri) ?? [];
  if (bucket === undefined) throw new BlobFailure(uri, "the address must be s3://bucket/key", { transient: false });
  // HTTP clients resolve such segments, also encoded ones, and would ask for another object.
  if (key.split("/").some((segment) => segment === "." || segment === ".."))
    throw new BlobFailure(uri, "the key must not have . or .. between slashes", { transient: false });
  return { uri, bucket, key };
}

/** Place of an S3 service. */
export interface S3Endpoint {
  readonly region: string;
  /** Service at one address, with buckets in the path; undefined: AWS. */
  readonly address: string | undefined;
}

export function endpointOf(environment: Environment): S3Endpoint {
  const address = environment["FLYTE_AWS_ENDPOINT"] || environment["AWS_ENDPOINT_URL_S3"] || environment["AWS_ENDPOINT_URL"] || undefined;
  const region = environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || DEFAULT_REGION;
  return { region, address };
}

/** Returns the URL of an object or bucket. AWS has the bucket in the host, unless it has dots. */
export function urlOf({ address, region }: S3Endpoint, { bucket, key }: S3Location, query: Readonly<Record<string, string>> = {}): URL {
  const path = key.split("/").map(encodeStrictly).join("/");
  const search = Object.entries(query)
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .join("&");
  const aws = `https://s3.${region}.amazonaws.com`;
  const inHost = address === undefined && !bucket.includes(".");
  const base = inHost ? `https://${bucket}.s3.${region}.amazonaws.com` : `${(address ?? aws).replace(/\/$/, "")}/${encodeStrictly(bucket)}`;
  return new URL(`${base}/${path}${search === "" ? "" : `?${search}`}`);
}
