import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Identity, SessionRequest, VerifyToken } from "@flyte-ts/auth";
import type { Provider } from "@flyte-ts/auth/tokens";
import { type CallContext, Code, type HttpContext, type HttpRoute, RpcError, toRpcError } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { escapeHtml, PAGE_HEADERS, page } from "../issuer/pages.js";
import type { BrowserConfig } from "./config-schema.js";
import { readCookie, setCookie } from "./cookie.js";
import { allowedRedirect } from "./redirect.js";
import type { Session, SessionStore } from "../store/browser-sessions.js";
import { type BrowserClient, exchange } from "./token-exchange.js";

export interface BrowserOptions {
  readonly config: BrowserConfig;
  readonly publicUrl: string;
  readonly provider: Pick<Provider, "metadata">;
  readonly client: BrowserClient;
  readonly verify: VerifyToken;
  readonly sessions: SessionStore;
  /** Rejects when the tokens of the identity were revoked. */
  readonly assertNotRevoked: (identity: Identity) => Promise<void>;
  readonly clock: () => Date;
  readonly logger: Logger;
  /** Other cookies that a logout deletes. */
  readonly extraLogoutCookies: readonly string[];
}

const SESSION_COOKIE = "flyte_session";
const LOGIN_COOKIE = "flyte_sign_in";
const LOGIN_STATE_SECONDS = 600;

/** Login state that a browser returns with the code. */
interface LoginState {
  readonly state: string;
  readonly verifier: string;
  readonly target: string;
}

/** Routes `/login`, `/callback` and `/logout`. */
export function browserRoutes(options: BrowserOptions): HttpRoute[] {
  const guarded =
    (handle: (browser: BrowserOptions, request: IncomingMessage, responder: Responder) => Promise<void>): HttpRoute["handle"] =>
    async (request, response, context) => {
      try {
        await handle(options, request, createResponder(response, context));
      } catch (thrown) {
        const { message, code } = toRpcError(thrown);
        options.logger.warn({ code, path: context.path }, "browser login failed");
        failed(response, 502, message);
      }
    };
  return [
    { path: "/login", public: true, handle: guarded(login) },
    { path: "/callback", public: true, handle: guarded(callback) },
    { path: "/logout", public: true, handle: guarded(logout) },
  ];
}

/**
 * Resolves the identity of a browser from its session cookie. Ignores the cookie of cross-site
 * requests.
 *
 * @throws RpcError PERMISSION_DENIED for a request that may change something without a header that
 *   shows the page that sent it. SameSite=Lax alone is no protection from pages of the same site,
 *   and a browser that does not know it sends the cookie with forms of any page.
 */
export function browserIdentity({
  sessions,
  clock,
  publicUrl,
  config,
}: BrowserOptions): (headers: CallContext["metadata"], request: SessionRequest) => Promise<Identity | undefined> {
  const origins = [publicUrl, ...config.allowedOrigins].map((each) => new URL(each).origin);
  return async (headers, { onlyReads }) => {
    const id = readCookie(headers.get("cookie"), SESSION_COOKIE);
    const origin = headers.get("origin");
    if (id === undefined || (origin !== undefined && !origins.includes(origin)) || headers.get("sec-fetch-site") === "cross-site")
      return undefined;
    if (!onlyReads && origin === undefined && headers.get("sec-fetch-site") !== "same-origin") throw unknownPage();
    const identity = (await sessions.find(id))?.identity;
    return identity !== undefined && clock().getTime() < identity.expiresAt ? identity : undefined;
  };
}

function unknownPage(): RpcError {
  const reason = "with the cookie of a sign-in, a call that changes something needs the header Origin or Sec-Fetch-Site: same-origin";
  return new RpcError(Code.PERMISSION_DENIED, `${reason}; programs send a token instead`);
}

interface Responder {
  readonly query: URLSearchParams;
  readonly redirect: (status: 303 | 307, location: string, cookies: readonly string[]) => void;
  readonly reject: (reason: string) => void;
  /** Answers a script whose session cannot be renewed. */
  readonly refuseScript: () => void;
}

function createResponder(response: ServerResponse, { query }: HttpContext): Responder {
  return {
    query,
    redirect: (status, location, cookies) => {
      response.writeHead(status, { Location: location, "Set-Cookie": [...cookies], "Cache-Control": "no-store" }).end();
    },
    reject: (reason) => failed(response, 400, reason),
    refuseScript: () => void response.writeHead(204, { "Cache-Control": "no-store" }).end(),
  };
}

function failed(response: ServerResponse, status: number, reason: string): void {
  response
    .writeHead(status, { ...PAGE_HEADERS })
    .end(page("Sign-in", `<p>${escapeHtml(reason)}.</p><p><a href="/login">Begin anew</a></p>`));
}

async function login(browser: BrowserOptions, request: IncomingMessage, responder: Responder): Promise<void> {
  const { query, redirect, reject, refuseScript } = responder;
  const target = targetOf(browser, query);
  if (target === undefined) return reject("redirect_url points to another site");
  if (await resumeSession(browser, readCookie(request.headers.cookie, SESSION_COOKIE))) return redirect(307, target, []);
  // A script cannot sign in, and must not replace the state of a sign-in that the page has begun.
  if (request.headers["sec-fetch-dest"] === "empty") return refuseScript();
  const { publicUrl, client, config, provider } = browser;
  const loginState: LoginState = { state: randomBytes(24).toString("base64url"), verifier: randomBytes(32).toString("base64url"), target };
  const at = new URL((await provider.metadata()).authorization_endpoint);
  const requested = {
    client_id: client.clientId,
    response_type: "code",
    redirect_uri: callbackOf(publicUrl),
    scope: config.scopes.join(" "),
    state: loginState.state,
    code_challenge: createHash("sha256").update(loginState.verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(config.audience !== undefined && { audience: config.audience }),
  };
  for (const [name, value] of Object.entries(requested)) at.searchParams.set(name, value);
  const kept = Buffer.from(JSON.stringify(loginState)).toString("base64url");
  redirect(307, at.href, [cookie(browser, LOGIN_COOKIE, kept, LOGIN_STATE_SECONDS)]);
}

/** True when the browser has a session that is valid, or that can be renewed without its user. */
async function resumeSession(
  { sessions, client, verify, assertNotRevoked, clock }: BrowserOptions,
  id: string | undefined,
): Promise<boolean> {
  const session = id === undefined ? undefined : await sessions.find(id);
  if (id === undefined || session === undefined) return false;
  try {
    // An external provider would issue a new token for the old refresh token.
    await assertNotRevoked(session.identity);
    if (clock().getTime() < session.identity.expiresAt) return true;
    if (session.refreshToken === undefined) return false;
    const tokens = await exchange(client, { grant_type: "refresh_token", refresh_token: session.refreshToken });
    const identity = await verify(tokens.accessToken);
    if (identity.subject !== session.identity.subject) return false;
    await sessions.replace(id, { identity, refreshToken: tokens.refreshToken ?? session.refreshToken });
    return true;
  } catch {
    return false; // The user must log in again.
  }
}

async function callback(browser: BrowserOptions, request: IncomingMessage, { query, redirect, reject }: Responder): Promise<void> {
  const loginState = readLoginState(readCookie(request.headers.cookie, LOGIN_COOKIE));
  if (loginState === undefined || !equal(loginState.state, query.get("state") ?? "")) {
    return reject("login state is missing or expired: start the login again");
  }
  const code = query.get("code");
  if (code === null) return reject(`the identity provider returned: ${(query.get("error") ?? "nothing").slice(0, 100)}`);
  const target = allowed(browser, loginState.target);
  if (target === undefined) return reject("redirect_url points to another site");
  const { client, publicUrl, verify, sessions, config } = browser;
  const grant = { grant_type: "authorization_code", code, redirect_uri: callbackOf(publicUrl), code_verifier: loginState.verifier };
  const tokens = await exchange(client, grant);
  const session: Session = { identity: await verify(tokens.accessToken), refreshToken: tokens.refreshToken };
  const id = await sessions.create(session);
  redirect(303, target, [cookie(browser, SESSION_COOKIE, id, config.sessionSeconds), cookie(browser, LOGIN_COOKIE, "", 0)]);
}

async function logout(browser: BrowserOptions, request: IncomingMessage, { query, redirect, reject }: Responder): Promise<void> {
  const target = targetOf(browser, query);
  if (target === undefined) return reject("redirect_url points to another site");
  const id = readCookie(request.headers.cookie, SESSION_COOKIE);
  if (id !== undefined) await browser.sessions.delete(id);
  redirect(
    303,
    target,
    [SESSION_COOKIE, LOGIN_COOKIE, ...browser.extraLogoutCookies].map((name) => cookie(browser, name, "", 0)),
  );
}

function cookie({ publicUrl }: BrowserOptions, name: string, value: string, maxAgeSeconds: number): string {
  return setCookie(name, value, { secure: publicUrl.startsWith("https:"), path: name === LOGIN_COOKIE ? "/callback" : "/", maxAgeSeconds });
}

const callbackOf = (publicUrl: string): string => `${publicUrl}/callback`;

function targetOf(browser: BrowserOptions, query: URLSearchParams): string | undefined {
  return allowed(browser, query.get("redirect_url") ?? browser.config.home);
}

function allowed({ publicUrl, config }: BrowserOptions, requested: string): string | undefined {
  return allowedRedirect(requested, { publicUrl, allowedOrigins: config.allowedOrigins });
}

function readLoginState(value: string | undefined): LoginState | undefined {
  try {
    const read = JSON.parse(Buffer.from(value ?? "", "base64url").toString("utf8")) as Partial<LoginState>;
    const { state, verifier, target } = read;
    return typeof state === "string" && typeof verifier === "string" && typeof target === "string"
      ? { state, verifier, target }
      : undefined;
  } catch {
    return undefined;
  }
}

function equal(known: string, given: string): boolean {
  const [a, b] = [Buffer.from(known), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
