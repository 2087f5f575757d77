/** A call that failed: its `google.rpc.Status`, or no answer at all. */
export class RestError extends Error {
  override readonly name = "RestError";

  /**
   * @param code gRPC code, such as 5 for NOT_FOUND
   * @param httpStatus status of the response; 0 when there was none
   */
  constructor(
    readonly code: number,
    message: string,
    readonly httpStatus: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** True when the call may succeed if it is repeated. */
  get isTransient(): boolean {
    return TRANSIENT_CODES.includes(this.code);
  }
}

export const UNKNOWN = 2;
export const UNAVAILABLE = 14;
const RESOURCE_EXHAUSTED = 8;
const CANCELLED = 1;
const TRANSIENT_CODES = [CANCELLED, UNKNOWN, RESOURCE_EXHAUSTED, UNAVAILABLE];

/** gRPC codes of HTTP statuses without a `google.rpc.Status`, as proxies send them. */
const CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 502: 14, 503: 14, 504: 14 };

/** Reads the error of a response: JSON or protobuf of `google.rpc.Status`, or text of a proxy. */
export async function errorOf(response: Response): Promise<RestError> {
  const bytes = new Uint8Array(await response.arrayBuffer().catch(() => new ArrayBuffer(0)));
  const { status: httpStatus } = response;
  const fallback = { code: CODES[httpStatus] ?? UNKNOWN, message: `HTTP ${httpStatus}` };
  const type = response.headers.get("content-type") ?? "";
  try {
    const status = type.includes("json") ? readJsonStatus(bytes) : type.includes("octet-stream") ? decodeStatus(bytes) : fallback;
    return new RestError(status.code, status.message, httpStatus);
  } catch (cause) {
    return new RestError(fallback.code, fallback.message, httpStatus, { cause });
  }
}

export interface Status {
  readonly code: number;
  readonly message: string;
}

function readJsonStatus(bytes: Uint8Array): Status {
  const { code, message } = JSON.parse(new TextDecoder().decode(bytes)) as { code?: unknown; message?: unknown };
  if (typeof code !== "number") throw new Error("the error has no code");
  return { code, message: typeof message === "string" ? message : "" };
}

const VARINT_FIELD = 0;
const BYTES_FIELD = 2;

/**
 * Decodes code and message of an encoded `google.rpc.Status`; its details are left out.
 *
 * @throws Error when the bytes are no such message.
 */
export function decodeStatus(bytes: Uint8Array): Status {
  let [at, code, message] = [0, 0, ""];
  const varint = (): number => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 63) throw new Error("the encoded status ends within a field");
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    if (type === VARINT_FIELD) {
      const value = varint();
      if (field === 1) code = value;
    } else if (type === BYTES_FIELD) {
      const end = varint() + at;
      if (end > bytes.length) throw new Error("the encoded status ends within a field");
      if (field === 2) message = new TextDecoder().decode(bytes.subarray(at, end));
      at = end;
    } else throw new Error("the status has a field of another type");
  }
  return { code, message };
}
