import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { SignInError } from "./request-token.js";

/** Listener for the return of a browser from sign-in. */
export interface Loopback {
  /** Address to which the browser returns. */
  readonly redirectUri: string;
  /** Code of the authorization server. */
  readonly code: Promise<string>;
  readonly close: () => void;
}

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];
const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly outcome?: { readonly code: string } | { readonly error: SignInError };
}

/**
 * Listens on this machine's own address for one return that carries the state. Other requests,
 * such as those of foreign pages, are refused and change nothing.
 */
export async function listenForReturn(redirectUri: string, state: string): Promise<Loopback> {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url === undefined || url.protocol !== "http:" || !LOOPBACK_HOSTS.includes(url.hostname))
    throw new SignInError("no_server", `the server sends browsers to ${redirectUri}, which is not this machine; use the device flow`);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // The code may fail before it is awaited.
  promise.catch(() => undefined);
  const server = createServer((request, response) => {
    const { status, text, outcome } = answerOf(request, url, state);
    response.writeHead(status, HEADERS).end(`${text}\n`);
    if (outcome === undefined) return;
    if ("code" in outcome) resolve(outcome.code);
    else reject(outcome.error);
  });
  const host = url.hostname === "[::1]" ? "::1" : "127.0.0.1";
  const listening = Promise.withResolvers<void>();
  server.once("listening", listening.resolve).once("error", listening.reject);
  server.listen({ host, port: Number(url.port), exclusive: true });
  await listening.promise.catch((cause: Error) => {
    throw new SignInError("unreachable", `port ${url.port} is needed for sign-in: ${cause.message}; use the device flow`, { cause });
  });
  url.port = String((server.address() as AddressInfo).port);
  return {
    redirectUri: url.href,
    code: promise,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answerOf({ method, url: target = "", headers }: IncomingMessage, redirect: URL, state: string): Answer {
  // A foreign name for this machine is DNS rebinding.
  if (!isOwnHost(headers.host ?? "", redirect.port)) return { status: 421, text: "wrong host" };
  if (method !== "GET") return { status: 405, text: "only GET is allowed" };
  const asked = URL.canParse(target, redirect.origin) ? new URL(target, redirect.origin) : undefined;
  if (asked?.pathname !== redirect.pathname) return { status: 404, text: "not found" };
  const query = asked.searchParams;
  if (!isSame(query.get("state") ?? "", state)) return { status: 400, text: "this sign-in was not begun here" };
  const [code, error] = [query.get("code"), query.get("error")];
  if (error !== null) {
    const reason = query.get("error_description") ?? error;
    return { status: 400, text: "Sign-in failed. The terminal shows why.", outcome: { error: new SignInError(error, plain(reason)) } };
  }
  if (code === null || code === "") return { status: 400, text: "the code is missing" };
  return { status: 200, text: "You are signed in. This page can be closed.", outcome: { code } };
}

const isOwnHost = (host: string, port: string): boolean => LOOPBACK_HOSTS.some((name) => host === `${name}:${port}`);

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Returns the text without characters that control a terminal. */
const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, " ").slice(0, 300);
