import { create, type DescMessage, fromJson, type JsonValue, type MessageInitShape, type MessageShape, toJson } from "@bufbuild/protobuf";
import { createRestClient, type RestCall, RestError } from "@flyte-ts/client/browser";
import { pause } from "./pause.js";
import { tokensOf } from "./tokens.js";
import { type Environment, type ConnectionSettings, resolveSettings, type ResolvedSettings } from "./settings.js";

export { RestError } from "@flyte-ts/client/browser";

/** Tries of a call whose failure may be transient. */
const TRIES = 4;
const FIRST_DELAY_MS = 200;

/** A call without a body. */
export type ApiCall = Pick<RestCall, "method" | "query" | "signal">;

interface Connected {
  readonly origin: string;
  readonly token: () => Promise<string | undefined>;
  readonly headers: () => Promise<Record<string, string>>;
}

/**
 * Messages of Flyte's API by REST, which Flyte serves at the address of its gRPC API, by TLS or an
 * ingress. Calls are repeated after failures that may be transient: a creation must name what it
 * creates.
 */
export class FlyteApi {
  readonly #settings: () => Promise<ResolvedSettings>;
  readonly #environment: Environment;
  #connection: Promise<Connected> | undefined;

  constructor(given: ConnectionSettings, environment: Environment) {
    this.#environment = environment;
    this.#settings = () =>
      resolveSettings(given, environment, async () => (await import("./flytectl-file.js")).readFlytectlFile(environment));
  }

  /** Returns the URL of the API, without a path. */
  async origin(): Promise<string> {
    return (await this.#connected()).origin;
  }

  /** Returns the token of a call; undefined when calls carry none. @throws SignInError */
  async token(): Promise<string | undefined> {
    return (await this.#connected()).token();
  }

  /** Makes a call. @throws RestError */
  async call<Answer extends DescMessage>(
    answer: Answer,
    path: string,
    call: ApiCall & Pick<RestCall, "body"> = {},
  ): Promise<MessageShape<Answer>> {
    const { origin, headers } = await this.#connected();
    for (let failures = 0; ; failures++) {
      try {
        const given = await headers();
        const json = await createRestClient({ origin, headers: () => given }).call<JsonValue>(path, call);
        return fromJson(answer, json, { ignoreUnknownFields: true });
      } catch (error) {
        if (!(error instanceof RestError) || !error.isTransient || failures + 1 >= TRIES) throw this.#explained(error, origin);
        await pause(FIRST_DELAY_MS * 2 ** failures, call.signal);
      }
    }
  }

  /** Makes a streaming call and yields the encoded messages. @throws RestError */
  async *stream(path: string, call: ApiCall): AsyncGenerator<Uint8Array, void> {
    const { origin, headers } = await this.#connected();
    const given = await headers();
    yield* createRestClient({ origin, headers: () => given }).stream(path, call);
  }

  #explained(error: unknown, origin: string): unknown {
    if (!(error instanceof RestError) || error.httpStatus !== 0) return error;
    return new RestError(error.code, `${origin} cannot be reached; \`endpoint\` or FLYTE_PLATFORM_URL names the API`, 0, { cause: error });
  }

  #connected() {
    this.#connection ??= this.#settings().then((settings) => {
      const { origin } = settings;
      const token = tokensOf(settings, this.#environment);
      const headers = async (): Promise<Record<string, string>> => {
        const bearer = await token();
        return bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
      };
      return { origin, headers, token };
    });
    return this.#connection;
  }
}

/** Returns the JSON form of a message. */
export function jsonOf<Desc extends DescMessage>(schema: Desc, message: MessageInitShape<Desc>): JsonValue {
  return toJson(schema, create(schema, message));
}
