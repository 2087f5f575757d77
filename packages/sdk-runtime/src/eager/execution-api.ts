import { create, fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  type Execution,
  ExecutionCreateRequestSchema,
  ExecutionSchema,
  type WorkflowExecutionGetDataResponse,
  WorkflowExecutionGetDataResponseSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { withRetries } from "../blob/with-retries.js";

export interface ExecutionName {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/** The API refused a call, or could not be reached. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";

  constructor(
    message: string,
    readonly status: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** True when a retry may succeed. */
  get transient(): boolean {
    return this.status === 0 || this.status >= 500 || this.status === 429;
  }
}

/** Status of an answer to the creation of what exists. */
const CONFLICT = 409;
/** Time for an answer, ms. */
const TIMEOUT_MS = 60_000;

/**
 * Executions by the REST API of the platform: bundles of eager tasks need no gRPC. Calls are
 * repeated after failures that may be transient.
 */
export class ExecutionApi {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @throws Error when the environment names no platform */
  constructor(environment: Readonly<Record<string, string | undefined>>) {
    const endpoint = environment["FLYTE_PLATFORM_URL"];
    if (!endpoint) throw new Error("FLYTE_PLATFORM_URL is not set: eager tasks start executions by the API of the platform");
    const scheme = environment["FLYTE_PLATFORM_INSECURE"] === "true" ? "http" : "https";
    const token = environment["FLYTE_TS_TOKEN"];
    this.#base = `${scheme}://${endpoint.replace(/^(dns:\/\/\/|https?:\/\/)/, "")}/api/v1`;
    this.#headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  }

  /** Creates an execution; false when one of this name exists. */
  async create(request: MessageInitShape<typeof ExecutionCreateRequestSchema>): Promise<boolean> {
    const body = JSON.stringify(toJson(ExecutionCreateRequestSchema, create(ExecutionCreateRequestSchema, request)));
    try {
      await this.#call("POST", "/executions", body);
      return true;
    } catch (error) {
      if (error instanceof ApiFailure && error.status === CONFLICT) return false;
      throw error;
    }
  }

  async get(id: ExecutionName): Promise<Execution> {
    return fromJson(ExecutionSchema, await this.#call("GET", `/executions/${pathOf(id)}`), { ignoreUnknownFields: true });
  }

  /** Returns inputs and outputs. */
  async data(id: ExecutionName): Promise<WorkflowExecutionGetDataResponse> {
    const json = await this.#call("GET", `/data/executions/${pathOf(id)}`);
    return fromJson(WorkflowExecutionGetDataResponseSchema, json, { ignoreUnknownFields: true });
  }

  async abort(id: ExecutionName, cause: string): Promise<void> {
    await this.#call("DELETE", `/executions/${pathOf(id)}`, JSON.stringify({ cause }));
  }

  #call(method: string, path: string, body?: string): Promise<JsonValue> {
    return withRetries(async () => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const init = { method, headers: this.#headers, signal, ...(body !== undefined && { body }) };
      const response = await fetch(this.#base + path, init).catch((cause: unknown) => {
        throw new ApiFailure(`${method} ${path}: the platform does not answer`, 0, { cause });
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text === "" ? "{}" : text) as JsonValue;
      throw new ApiFailure(`${method} ${path}: ${response.status} ${messageIn(text)}`, response.status);
    });
  }
}

const pathOf = ({ project, domain, name }: ExecutionName): string => [project, domain, name].map(encodeURIComponent).join("/");

function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { readonly message?: string }).message ?? text;
  } catch {
    return text.slice(0, 500);
  }
}
