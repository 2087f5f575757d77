import { isMessage, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import type { Provider } from "@flyte-ts/auth/tokens";
import type { AuthMetadataService, OAuth2MetadataResponseSchema } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { type IdentityService, UserInfoResponseSchema } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { type ResponseHeaders, Code, RpcError, type ServiceImplementation } from "@flyte-ts/rpc";
import type { AuthConfig } from "../config/auth.js";

export interface SignInDeps {
  readonly auth: Pick<AuthConfig, "publicClient" | "publicUrl" | "headerKey">;
  /** Provider to which clients are sent. */
  readonly provider: Pick<Provider, "metadata">;
}

/** Returns the login endpoints and the public client to use. */
export function authMetadataRpcs({ auth, provider }: SignInDeps): ServiceImplementation<typeof AuthMetadataService> {
  const { clientId, redirectUri, scopes, audience } = auth.publicClient;
  return {
    getOAuth2Metadata: () => oauth2Metadata(provider),
    getPublicClientConfig: () => ({
      clientId,
      redirectUri,
      scopes,
      audience,
      authorizationMetadataKey: auth.headerKey,
      serviceHttpEndpoint: auth.publicUrl ?? "",
    }),
  };
}

async function oauth2Metadata(provider: Pick<Provider, "metadata">): Promise<MessageInitShape<typeof OAuth2MetadataResponseSchema>> {
  const metadata = await provider.metadata().catch((cause: unknown) => {
    throw new RpcError(Code.UNAVAILABLE, "the identity provider does not answer with its metadata, try again", { cause });
  });
  return {
    issuer: metadata.issuer,
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    deviceAuthorizationEndpoint: metadata.device_authorization_endpoint,
    jwksUri: metadata.jwks_uri,
    responseTypesSupported: metadata.response_types_supported,
    scopesSupported: metadata.scopes_supported,
    grantTypesSupported: metadata.grant_types_supported,
    tokenEndpointAuthMethodsSupported: metadata.token_endpoint_auth_methods_supported,
    codeChallengeMethodsSupported: metadata.code_challenge_methods_supported,
  };
}

/** Returns the caller's identity from its token. */
export function identityRpcs(): ServiceImplementation<typeof IdentityService> {
  return {
    userInfo: (_request, { caller }) => {
      if (caller === undefined) throw new RpcError(Code.UNAUTHENTICATED, "not signed in: the call has no known caller");
      const { subject, claims } = caller;
      const text = (name: string): string => (typeof claims[name] === "string" ? claims[name] : "");
      const groups = Array.isArray(claims.groups) ? claims.groups.filter((each): each is string => typeof each === "string") : [];
      const additionalClaims: JsonObject = groups.length > 0 ? { groups } : {};
      return {
        subject,
        name: text("name"),
        preferredUsername: text("preferred_username"),
        givenName: text("given_name"),
        familyName: text("family_name"),
        email: text("email"),
        picture: text("picture"),
        additionalClaims,
      };
    },
  };
}

/**
 * Headers with the caller's identity, for proxies that authorize requests with `/me`.
 */
export const userHeaders: ResponseHeaders = (_method, response) => {
  if (!isMessage(response, UserInfoResponseSchema)) return {};
  const claims = Object.entries(response.additionalClaims ?? {}).map(([name, value]): [string, string] => [
    `X-User-Claim-${name.replaceAll("_", "-")}`,
    headerText(JSON.stringify(value)),
  ]);
  return { ...Object.fromEntries(claims), "X-User-Subject": headerText(response.subject) };
};

/**
 * HTTP header values are Latin-1: other characters are written as their UTF-8 bytes, as Go does.
 */
function headerText(text: string): string {
  return Buffer.from(text, "utf8")
    .toString("latin1")
    .replace(/[\r\n\0]/g, " ");
}
