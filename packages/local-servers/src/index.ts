export { startNats, findNatsServer, type NatsOptions } from "./nats.js";
export { startPostgres, type PostgresOptions } from "./postgres.js";
export { startServerProcess, ServerStartError, type LocalServer, type ProcessSpec } from "./server-process.js";
export { freePort, portInUse } from "./free-port.js";
