import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface IssuerKey {
  readonly kid: string;
  readonly algorithm: "RS256" | "ES256";
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** An identity provider over HTTP that publishes metadata and keys, and signs any claims. */
export interface TokenIssuer {
  readonly issuer: string;
  /** The newest key. */
  readonly key: IssuerKey;
  /** Number of requests for its keys. */
  readonly keyRequests: () => number;
  /** Publishes and signs with a new key; `keep` leaves the previous ones published. */
  rotate(options?: { readonly keep?: boolean; readonly algorithm?: IssuerKey["algorithm"] }): IssuerKey;
  /** Signs a token with these claims over valid defaults; an undefined claim is left out. */
  token(claims?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): string;
  stop(): Promise<void>;
}

export async function tokenIssuer({ audience = "https://flyte.test" }: { readonly audience?: string } = {}): Promise<TokenIssuer> {
  let keys: IssuerKey[] = [newKey(0, "RS256")];
  let createdKeys = 1;
  let keyRequests = 0;
  const server = createServer((request, response) => {
    const answer = (body: unknown): void => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url === "/.well-known/openid-configuration") {
      const [token_endpoint, authorization_endpoint, jwks_uri] = ["token", "authorize", "jwks"].map((name) => `${issuer}/${name}`);
      answer({ issuer, token_endpoint, authorization_endpoint, jwks_uri });
    } else if (request.url === "/jwks") {
      keyRequests += 1;
      answer({
        keys: keys.map(({ kid, algorithm, publicKey }) => ({ ...publicKey.export({ format: "jwk" }), kid, alg: algorithm, use: "sig" })),
      });
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const newestKey = (): IssuerKey => keys[0] ?? newKey(0, "RS256");
  return {
    issuer,
    get key() {
      return newestKey();
    },
    keyRequests: () => keyRequests,
    rotate: ({ keep = true, algorithm = "RS256" } = {}) => {
      const key = newKey(createdKeys++, algorithm);
      keys = keep ? [key, ...keys] : [key];
      return key;
    },
    token: (claims = {}, header = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const key = newestKey();
      const payload = { iss: issuer, aud: audience, sub: "someone", iat: now, exp: now + 600, ...claims };
      return signToken({ alg: key.algorithm, kid: key.kid, ...header }, payload, key);
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Signs a JSON Web Token (RFC 7515) without the library that verifies it. */
export function signToken(header: object, payload: object, { algorithm, privateKey }: Pick<IssuerKey, "algorithm" | "privateKey">): string {
  const text = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const key = algorithm === "ES256" ? { key: privateKey, dsaEncoding: "ieee-p1363" as const } : privateKey;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

function newKey(number: number, algorithm: IssuerKey["algorithm"]): IssuerKey {
  const pair =
    algorithm === "RS256" ? generateKeyPairSync("rsa", { modulusLength: 2048 }) : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { kid: `key-${number}`, algorithm, ...pair };
}
