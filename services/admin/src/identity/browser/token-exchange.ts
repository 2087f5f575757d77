import { Code, RpcError } from "@flyte-ts/rpc";
import { z } from "zod";

/** Client and token endpoint with which codes of browsers are exchanged for tokens. */
export interface BrowserClient {
  readonly clientId: string;
  readonly secret: () => Promise<string | undefined>;
  readonly tokenEndpoint: () => Promise<string>;
}

const answerSchema = z.looseObject({ access_token: z.string().min(1), refresh_token: z.string().optional() });
const TIMEOUT_MS = 10_000;

export interface Exchanged {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

/**
 * Calls the provider's token endpoint. Its responses contain secrets, so none of their text is
 * forwarded.
 *
 * @throws RpcError UNAUTHENTICATED when it rejects the grant, UNAVAILABLE when it does not respond.
 */
export async function exchange(client: BrowserClient, grant: Readonly<Record<string, string>>): Promise<Exchanged> {
  const secret = (await client.secret())?.trim();
  const body = new URLSearchParams(secret === undefined ? { ...grant, client_id: client.clientId } : grant);
  const basic = Buffer.from(`${encodeURIComponent(client.clientId)}:${encodeURIComponent(secret ?? "")}`).toString("base64");
  const response = await fetch(await client.tokenEndpoint(), {
    method: "POST",
    body,
    headers: { accept: "application/json", ...(secret !== undefined && { authorization: `Basic ${basic}` }) },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new RpcError(Code.UNAVAILABLE, "the identity provider does not answer, try again", { cause });
  });
  if (response.status >= 500) throw new RpcError(Code.UNAVAILABLE, `the identity provider answered ${response.status}, try again`);
  const answer = answerSchema.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !answer.success) throw new RpcError(Code.UNAUTHENTICATED, "the identity provider returned no token");
  return { accessToken: answer.data.access_token, refreshToken: answer.data.refresh_token };
}
