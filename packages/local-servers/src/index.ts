export { type NatsOptions, startNats } from "./nats/nats.js";
export { chownToNobody } from "./postgres/change-owner.js";
export { type PostgresOptions, postgresUrl, startPostgres } from "./postgres/postgres.js";
export { findPostgresClient } from "./postgres/postgres-client.js";
export { type LocalServer, type ProcessSpec, ServerStartError, startServerProcess } from "./server-process.js";
