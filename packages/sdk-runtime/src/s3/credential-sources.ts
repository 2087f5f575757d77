import { readFile } from "node:fs/promises";
import { BlobFailure } from "../blob/blob-access.js";
import { exchange, type HttpAnswer, type HttpRequest } from "../blob/http-exchange.js";
import { withRetries } from "../blob/with-retries.js";
import type { Environment } from "./credentials.js";
import type { AwsKeys } from "./sign.js";
import { elementText } from "./xml.js";

/** Credentials with an end. */
export interface TemporaryKeys {
  readonly keys: AwsKeys;
  /** Ms since the epoch. */
  readonly expiresAt: number;
}

/** Time for an answer, ms; a machine outside of AWS has no address of the instance's service. */
const TIMEOUT_MS = 10_000;
const INSTANCE_TIMEOUT_MS = 1_000;
/** Hosts to which the token of a container may be sent without TLS: loopback, ECS and EKS. */
const CONTAINER_HOSTS = ["localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];
const ECS_ADDRESS = "http://169.254.170.2";
const INSTANCE_ADDRESS = "http://169.254.169.254";
const INSTANCE_TOKEN_SECONDS = "21600";

/** Credentials of the role that a Kubernetes service account assumes (IRSA). */
export async function readWebIdentityCredentials(environment: Environment): Promise<TemporaryKeys | undefined> {
  const role = environment["AWS_ROLE_ARN"];
  const tokenFile = environment["AWS_WEB_IDENTITY_TOKEN_FILE"];
  if (!role || !tokenFile) return undefined;
  const region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
  const endpoint = environment["AWS_ENDPOINT_URL_STS"] ?? (region ? `https://sts.${region}.amazonaws.com` : "https://sts.amazonaws.com");
  const form = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: environment["AWS_ROLE_SESSION_NAME"] ?? `flyte-ts-${process.pid}`,
    WebIdentityToken: (await readFile(tokenFile, "utf8")).trim(),
  });
  const headers = { accept: "application/xml", "content-type": "application/x-www-form-urlencoded" };
  const text = await ask(endpoint, { method: "POST", body: Buffer.from(form.toString()), headers });
  return {
    keys: {
      accessKeyId: elementText(text, "AccessKeyId") ?? "",
      secretAccessKey: elementText(text, "SecretAccessKey") ?? "",
      sessionToken: elementText(text, "SessionToken"),
    },
    expiresAt: Date.parse(elementText(text, "Expiration") ?? ""),
  };
}

/** Credentials of a task of ECS or of an EKS pod identity. */
export async function readContainerCredentials(environment: Environment): Promise<TemporaryKeys | undefined> {
  const relative = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  const full = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"];
  const address = relative ? `${ECS_ADDRESS}${relative}` : full;
  if (!address) return undefined;
  const { protocol, hostname } = new URL(address);
  if (protocol !== "https:" && !CONTAINER_HOSTS.includes(hostname))
    throw new BlobFailure("s3", `the credentials' address ${hostname} needs https`, { transient: false });
  const tokenFile = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
  const token = tokenFile ? (await readFile(tokenFile, "utf8")).trim() : environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"];
  return parseKeys(await ask(address, { headers: token ? { authorization: token } : {} }));
}

/** Credentials of the role of an EC2 instance (IMDSv2); undefined outside of EC2. */
export async function readInstanceCredentials(environment: Environment): Promise<TemporaryKeys | undefined> {
  if (environment["AWS_EC2_METADATA_DISABLED"] === "true") return undefined;
  const endpoint = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? INSTANCE_ADDRESS;
  const token = await instanceToken(endpoint);
  if (token === undefined) return undefined;
  const headers = { "x-aws-ec2-metadata-token": token };
  const roles = new URL("/latest/meta-data/iam/security-credentials/", endpoint);
  const [role = ""] = (await ask(roles.href, { headers })).split("\n");
  return parseKeys(await ask(new URL(role.trim(), roles).href, { headers }));
}

async function instanceToken(endpoint: string): Promise<string | undefined> {
  try {
    const response = await exchange(new URL("/latest/api/token", endpoint), {
      method: "PUT",
      headers: { "x-aws-ec2-metadata-token-ttl-seconds": INSTANCE_TOKEN_SECONDS },
      signal: AbortSignal.timeout(INSTANCE_TIMEOUT_MS),
    });
    const text = await response.text();
    return response.ok ? text : undefined;
  } catch {
    return undefined;
  }
}

function parseKeys(text: string): TemporaryKeys {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = JSON.parse(text) as Readonly<Record<string, string | undefined>>;
  if (!AccessKeyId || !SecretAccessKey) throw new BlobFailure("s3", "the answer with credentials holds none", { transient: false });
  return {
    keys: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token },
    expiresAt: Date.parse(Expiration ?? ""),
  };
}

/** Returns an answer's text. Errors name the address, never what was sent or answered. */
function ask(url: string, request: Partial<HttpRequest>): Promise<string> {
  return withRetries(async () => {
    let response: HttpAnswer;
    let text: string;
    try {
      response = await exchange(new URL(url), { method: "GET", headers: {}, ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
      text = await response.text();
    } catch (cause) {
      throw new BlobFailure(url, "the source of credentials does not answer", { transient: true, cause });
    }
    if (response.ok) return text;
    throw new BlobFailure(url, `the source of credentials answers ${response.status}`, { transient: response.status >= 500 });
  });
}
