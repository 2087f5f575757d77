import { readFile } from "node:fs/promises";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { type ChannelOptions, createClient, openChannel } from "@flyte-ts/rpc";
import { z } from "zod";
import { createClientToken } from "./client-token.js";

/** Credentials of a service for calls to others; without them it calls without a token. */
export const serviceAuthSchema = z.strictObject({
  /** Client id of this service at the issuer of tokens. */
  clientId: z.string().min(1),
  /** File that holds only the client's secret; it is read again for every token. */
  clientSecretFile: z.string().min(1),
  /** Address of the token endpoint; absent: discovered from the called service. */
  tokenEndpoint: z.url().optional(),
  /** Requested scopes. */
  scopes: z.array(z.string().min(1)).default(["all"]),
  /** Value of `audience`, where the issuer needs it; absent: none is sent. */
  audience: z.string().optional(),
});

export type ServiceAuth = z.infer<typeof serviceAuthSchema>;

const DISCOVERY_MS = 10_000;

/**
 * Metadata for each call of a service, for {@link openChannel}; undefined when it has no
 * credentials.
 */
export function clientCredentials(
  endpoint: string,
  auth: ServiceAuth | undefined,
  clock: () => Date,
): Pick<ChannelOptions, "metadata" | "onUnauthenticated"> {
  if (auth === undefined) return {};
  const token = createClientToken({
    clientId: auth.clientId,
    secret: () => readFile(auth.clientSecretFile, "utf8"),
    tokenEndpoint: async () => auth.tokenEndpoint ?? (await askForTokenEndpoint(endpoint)),
    scopes: auth.scopes,
    audience: auth.audience,
    clock,
  });
  return { metadata: async () => ({ authorization: `Bearer ${await token.current()}` }), onUnauthenticated: token.onRejected };
}

async function askForTokenEndpoint(endpoint: string): Promise<string> {
  const channel = openChannel({ endpoint, deadlineMs: DISCOVERY_MS });
  try {
    return (await createClient({ channel, service: AuthMetadataService }).getOAuth2Metadata({})).tokenEndpoint;
  } finally {
    channel.close();
  }
}
