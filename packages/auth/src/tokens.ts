// Checking tokens. Apart from the rest, for it loads the library that does: 13 MB that only those need who are called.
export { createLocalKeys, type PublicKey } from "./local-keys.js";
export { createProvider, type Provider, type ProviderMetadata, type ProviderOptions } from "./discover.js";
export { issuersFrom } from "./issuers.js";
export { ALGORITHMS, createVerifier, type Issuer, type VerifyOptions } from "./verify-token.js";
