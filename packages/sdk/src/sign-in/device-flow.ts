import { pause } from "../api/pause.js";
import { isWebAddress, type OAuthServer } from "./oauth-server.js";
import { postForm, requestToken, SignInError, type Tokens } from "./request-token.js";

/** Code that a person enters in a browser, on any machine, to sign in. */
export interface DeviceCode {
  readonly userCode: string;
  /** Page that asks for the code. */
  readonly verificationUri: string;
  /** The same page with the code filled in; absent when the server has none. */
  readonly verificationUriComplete?: string;
  /** End of the code. */
  readonly expiresAt: Date;
}

export interface DeviceFlowOptions {
  /** Shows the code to the person. */
  readonly show: (code: DeviceCode) => void;
  /** Waits between two questions; default: a timer. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly now?: () => number;
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
/** Time between two questions where the server names none, s, as RFC 8628 has it. */
const DEFAULT_INTERVAL_S = 5;
/** Time that `slow_down` adds to the interval, s. */
const SLOW_DOWN_S = 5;
/** Lifetime of a code that does not state one, s. */
const DEFAULT_LIFETIME_S = 600;

/** Signs in by RFC 8628: shows a code, and waits until the person has entered it elsewhere. */
export async function deviceFlow(server: OAuthServer, { show, wait = pause, now = Date.now }: DeviceFlowOptions): Promise<Tokens> {
  const { code, deviceCode, intervalS } = await requestCode(server, now());
  show(code);
  const form = { grant_type: GRANT, device_code: deviceCode, client_id: server.clientId };
  for (let interval = intervalS; ; ) {
    await wait(interval * 1_000);
    if (now() >= code.expiresAt.getTime()) throw expired();
    try {
      return await requestToken(server.tokenEndpoint, form);
    } catch (error) {
      interval = nextInterval(error, interval);
    }
  }
}

/** Returns the time until the next question, s. @throws the error that ends the flow */
function nextInterval(error: unknown, interval: number): number {
  const code = error instanceof SignInError ? error.code : "";
  switch (code) {
    case "authorization_pending":
      return interval;
    case "slow_down":
      return interval + SLOW_DOWN_S;
    case "unreachable":
      return interval * 2;
    case "expired_token":
      throw expired();
    case "access_denied":
      throw new SignInError(code, "sign-in was denied", { cause: error });
    default:
      throw error;
  }
}

const expired = () => new SignInError("expired_token", "the code ended before it was entered; sign in again");

async function requestCode({ deviceEndpoint, clientId, scopes, audience }: OAuthServer, now: number) {
  if (deviceEndpoint === undefined) throw new SignInError("no_server", "the server offers no device flow");
  const form = { client_id: clientId, scope: scopes.join(" "), ...(audience !== "" && { audience }) };
  const answer = await postForm(deviceEndpoint, form);
  const text = (name: string): string => (typeof answer[name] === "string" ? answer[name] : "");
  const [deviceCode, userCode, verificationUri] = [text("device_code"), text("user_code"), text("verification_uri")];
  if (deviceCode === "" || !isShown(userCode) || !isWebAddress(verificationUri))
    throw new SignInError("invalid_answer", `${deviceEndpoint} answers without a code and a page that asks for it`);
  const complete = text("verification_uri_complete");
  const lifetime = positive(answer["expires_in"], DEFAULT_LIFETIME_S);
  const code: DeviceCode = {
    userCode,
    verificationUri: new URL(verificationUri).href,
    ...(isWebAddress(complete) && { verificationUriComplete: new URL(complete).href }),
    expiresAt: new Date(now + lifetime * 1_000),
  };
  return { code, deviceCode, intervalS: positive(answer["interval"], DEFAULT_INTERVAL_S) };
}

/** True for a code of letters that a terminal shows as they are. */
const isShown = (code: string): boolean => /^[\x21-\x7e]{1,64}$/.test(code);

function positive(value: unknown, otherwise: number): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : otherwise;
}
