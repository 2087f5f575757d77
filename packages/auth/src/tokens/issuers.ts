import type { z } from "zod";
import type { providerSchema } from "../config-schema.js";
import { createProvider, type Provider } from "./oidc-discovery.js";
import type { Issuer } from "./verify-token.js";

/**
 * Creates the issuers of a configuration's providers. `audience` applies where a provider names
 * none.
 */
export function issuersFrom(
  providers: readonly z.infer<typeof providerSchema>[],
  { audience, clock }: { readonly audience: readonly string[]; readonly clock: () => Date },
): { readonly issuer: Issuer; readonly provider: Provider }[] {
  return providers.map((settings) => {
    const { issuer, metadataUrl, keysUrl } = settings;
    const provider = createProvider({ issuer, metadataUrl, keysUrl, clock });
    return {
      provider,
      issuer: {
        issuer,
        audience: settings.audience.length > 0 ? settings.audience : audience,
        keys: provider.keys,
        requiredScopes: settings.requiredScopes,
        groupsClaim: settings.groupsClaim,
      },
    };
  });
}
