export { startNats, type NatsOptions } from "./nats.js";
export { startPostgres, type PostgresOptions } from "./postgres.js";
export { ServerStartError, type LocalServer } from "./server-process.js";
export { freePort, portInUse } from "./free-port.js";
