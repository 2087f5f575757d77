// Checks tokens. A separate entry, since it loads jose: 13 MB that only servers need.
export { createLocalJwks, type PublicKey } from "./tokens/local-jwks.js";
export { createProvider, type Provider, type ProviderMetadata, type ProviderOptions } from "./tokens/oidc-discovery.js";
export { issuersFrom } from "./tokens/issuers.js";
export { ALGORITHMS, createVerifier, type Issuer, type VerifyOptions } from "./tokens/verify-token.js";
