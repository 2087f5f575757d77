import { BlobFailure, collect } from "../blob/blob-access.js";
import { exchange, type HttpAnswer } from "../blob/http-exchange.js";
import { responsePieces } from "../blob/response-pieces.js";
import { withRetries } from "../blob/with-retries.js";
import { type Environment, findKeys } from "./credentials.js";
import { endpointOf, type S3Endpoint, type S3Location, urlOf } from "./s3-endpoint.js";
import { sha256Hex, signRequest } from "./sign.js";
import { elementText } from "./xml.js";

export interface S3Request {
  readonly method: "GET" | "PUT" | "POST" | "HEAD" | "DELETE";
  readonly location: S3Location;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface S3Client {
  /**
   * Sends a request, and again after failures that may be transient. Returns undefined when the
   * object or its upload does not exist.
   */
  send(request: S3Request): Promise<HttpAnswer | undefined>;
  /** Sends a request as `send`, and reads the text of its answer. */
  ask(request: S3Request): Promise<S3Text | undefined>;
}

/** Answer that has been read. */
export interface S3Text extends Pick<HttpAnswer, "header"> {
  readonly text: string;
}

/** Time for the head of an answer, ms; a part of 8 MiB is sent within it at 70 KiB/s. */
const ANSWER_TIMEOUT_MS = 120_000;
/** Maximum size of an answer's text, bytes; a page of a listing has 1,000 keys of 1 KiB. */
const MAX_TEXT_BYTES = 16 << 20;
/** Error codes of temporary conditions that S3 reports with 400. */
const TRANSIENT_CODES = ["RequestTimeout", "RequestTimeTooSkewed", "ExpiredToken", "SlowDown", "Throttling"];

/** Creates a client whose place and credentials come from the environment. */
export function createS3Client(environment: Environment): S3Client {
  const keysFound = findKeys(environment);
  const configured = endpointOf(environment);
  /** Regions of buckets that are in another one than the environment names. */
  const regions = new Map<string, string>();
  const endpointFor = (bucket: string): S3Endpoint => ({ ...configured, region: regions.get(bucket) ?? configured.region });
  const attempt = async (request: S3Request): Promise<HttpAnswer | undefined> => {
    const { location } = request;
    const keys = await keysFound();
    if (keys === undefined) throw new BlobFailure(location.uri, NO_KEYS, { transient: false });
    const endpoint = endpointFor(location.bucket);
    const url = urlOf(endpoint, location, request.query);
    const payloadHash = sha256Hex(request.body ?? "");
    const { method, headers = {} } = request;
    const signed = signRequest({ method, url, headers, payloadHash, region: endpoint.region, at: new Date() }, keys);
    const response = await sendOnce(request, url, signed);
    if (response.ok) return response;
    const region = response.header("x-amz-bucket-region");
    if (region !== undefined && region !== endpoint.region && configured.address === undefined) {
      regions.set(location.bucket, region);
      response.discard();
      return attempt(request);
    }
    return failed(location, response);
  };
  const askOnce = async (request: S3Request): Promise<S3Text | undefined> => {
    const { uri } = request.location;
    const answer = await attempt(request);
    if (answer === undefined) return undefined;
    const bytes = await collect(uri, responsePieces(uri, answer.pieces), MAX_TEXT_BYTES);
    return { header: answer.header, text: Buffer.from(bytes).toString() };
  };
  return { send: (request) => withRetries(() => attempt(request)), ask: (request) => withRetries(() => askOnce(request)) };
}

const NO_KEYS =
  "no credentials: set FLYTE_AWS_ACCESS_KEY_ID and FLYTE_AWS_SECRET_ACCESS_KEY, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod a role";

/**
 * Waits for the head of the answer; reading its body has no time limit. Contents arrive as they are
 * stored.
 */
async function sendOnce({ method, body, location }: S3Request, url: URL, signed: Record<string, string>): Promise<HttpAnswer> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ANSWER_TIMEOUT_MS);
  try {
    return await exchange(url, { method, headers: { ...signed, "accept-encoding": "identity" }, body, signal: abort.signal });
  } catch (cause) {
    const reason = abort.signal.aborted ? `no answer within ${ANSWER_TIMEOUT_MS} ms` : String(cause);
    throw new BlobFailure(location.uri, `${url.host} cannot be reached: ${reason}`, { transient: true, cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns undefined for a missing object, and throws for all other failures. */
async function failed({ uri }: S3Location, response: HttpAnswer): Promise<undefined> {
  const text = await response.text().catch(() => "");
  const code = elementText(text, "Code");
  const { status } = response;
  if (status === 404 && code !== "NoSuchBucket") return undefined;
  const message = elementText(text, "Message");
  const reason = `S3 answers ${status}${code === undefined ? "" : ` ${code}`}${message === undefined ? "" : `: ${message}`}`;
  const transient = status >= 500 || status === 429 || status === 408 || TRANSIENT_CODES.includes(code ?? "");
  throw new BlobFailure(uri, reason, { transient });
}
