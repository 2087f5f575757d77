// Checks tokens. A separate entry, since it loads jose: 13 MB that only servers need.
export { createLocalKeys, type PublicKey } from "./local-keys.js";
export { createProvider, type Provider, type ProviderMetadata, type ProviderOptions } from "./discover.js";
export { issuersFrom } from "./issuers.js";
export { ALGORITHMS, createVerifier, type Issuer, type VerifyOptions } from "./verify-token.js";
