/** Time for an answer of the OAuth server, ms. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Time before its end at which a token is replaced, ms. */
const MARGIN_MS = 30_000;
/** Lifetime of a token that does not state one, s. */
const DEFAULT_LIFETIME_S = 300;

/** Sign-in failed, or is necessary. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  /** Error code of OAuth, such as `access_denied`; `not_signed_in`, `no_server`, `unreachable`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface Tokens {
  readonly accessToken: string;
  /** Token that replaces the access token at its end; absent when the server issues none. */
  readonly refreshToken?: string;
  /** Time at which the access token has to be replaced, ms since the epoch. */
  readonly end: number;
}

type Form = Readonly<Record<string, string>>;
type Answer = Readonly<Record<string, unknown>>;

/** Requests a token. @throws SignInError with the code of the server */
export async function requestToken(endpoint: string, form: Form, headers: Form = {}): Promise<Tokens> {
  const answer = await postForm(endpoint, form, headers);
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = answer;
  if (typeof accessToken !== "string" || accessToken === "") throw new SignInError("invalid_answer", `${endpoint} answers without a token`);
  const lifetime = Number(seconds) > 0 ? Number(seconds) : DEFAULT_LIFETIME_S;
  return {
    accessToken,
    ...(typeof refreshToken === "string" && refreshToken !== "" && { refreshToken }),
    end: Date.now() + lifetime * 1_000 - MARGIN_MS,
  };
}

/** Sends a form and returns the JSON of the answer. @throws SignInError */
export async function postForm(endpoint: string, form: Form, headers: Form = {}): Promise<Answer> {
  const response = await send(endpoint, form, headers);
  const answer = objectOf(await response.json().catch(() => undefined));
  if (response.ok && answer["error"] === undefined) return answer;
  const code = typeof answer["error"] === "string" ? answer["error"] : `status_${response.status}`;
  const description = answer["error_description"];
  throw new SignInError(code, typeof description === "string" && description !== "" ? `${code}: ${description}` : code);
}

const objectOf = (value: unknown): Answer => (typeof value === "object" && value !== null ? { ...value } : {});

async function send(endpoint: string, form: Form, headers: Form): Promise<Response> {
  const init = { method: "POST", headers: { accept: "application/json", ...headers }, body: new URLSearchParams(form) };
  try {
    // A redirect would send codes and secrets to another address.
    return await fetch(endpoint, { ...init, redirect: "error", signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  } catch (cause) {
    throw new SignInError("unreachable", `${endpoint} cannot be reached: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
