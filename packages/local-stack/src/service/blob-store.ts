import type { StackCredentials } from "../state/credentials.js";
import { StackError } from "../stack-error.js";

/** The S3 service of a stack. */
export interface StackBlobStore {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
  /** True when the stack runs it itself. */
  readonly managed: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Timeout of the service at the start. */
const PROBE_TIMEOUT_MS = 5_000;

/**
 * The local blob store, with keys of this stack. Clients need none for addresses that admin signs.
 */
export function localBlobStore(
  { host, port }: { host: string; port: number },
  bucket: string,
  credentials: StackCredentials,
): StackBlobStore {
  const keys = { accessKeyId: credentials.blobKeyId, secretAccessKey: credentials.blobSecretKey };
  return { endpoint: `http://${host}:${port}`, region: "us-east-1", ...keys, bucket, managed: true };
}

/**
 * An external S3 service. Tasks get the same keys as the services.
 *
 * @throws StackError when keys are missing, or are temporary ones that may expire before a task
 *   ends
 */
export function externalBlobStore(s3: string, bucket: string, env: Environment): StackBlobStore {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) throw new StackError(`--s3 ${s3}: set its keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
  if (env.AWS_SESSION_TOKEN)
    throw new StackError(`--s3 ${s3}: AWS_SESSION_TOKEN is set, but session credentials expire while the stack runs`);
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || "us-east-1";
  return { endpoint: s3.replace(/\/+$/, ""), region, accessKeyId, secretAccessKey, bucket, managed: false };
}

/**
 * @throws StackError when the service does not answer, or the bucket does not exist; the keys are
 *   tested only by the first use.
 */
export async function checkExternalBlobStore({ endpoint, bucket }: StackBlobStore): Promise<void> {
  let status: number;
  try {
    const answer = await fetch(`${endpoint}/${bucket}`, { method: "HEAD", signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    ({ status } = answer);
  } catch (cause) {
    throw new StackError(`--s3 ${endpoint}: no S3 service answers: start it, or name another address`, { cause });
  }
  if (status === 404) throw new StackError(`--s3 ${endpoint}: bucket ${bucket} does not exist; create it, or name another with --bucket`);
}
