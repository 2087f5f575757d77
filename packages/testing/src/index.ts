export { type ApiFault, type ApiProxy, type ApiProxyTarget, startApiProxy } from "./api-proxy.js";
export { kubernetesFixture, type KubernetesFixture, type KubernetesFixtureOptions, kubernetesUnavailable } from "./kubernetes.js";
export { type MigratedDatabase, migratedDatabase } from "./migrated-database.js";
export { type SchemaSnapshot, schemaSnapshot } from "./schema-snapshot.js";
export { schemaText } from "./schema-text.js";
export { seededRandom } from "./seeded-random.js";
export { natsFixture, postgresFixture, type ServerFixture } from "./servers.js";
export { testGuard } from "./test-guard.js";
export { type IssuerKey, signToken, type TokenIssuer, tokenIssuer } from "./token-issuer.js";
