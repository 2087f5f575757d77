export {
  createPool,
  CommitOutcomeUnknownError,
  type Database,
  type PoolOptions,
  type Query,
  type Queryable,
  type Result,
} from "./database.js";
export { OutageLog, taskFailures } from "./outage-log.js";
export { bigintArray, booleanArray, byteaArray, integerArray, textArray } from "./binary-array.js";
export { ensureDatabase } from "./ensure-database.js";
export { checkDatabase, waitForDatabase } from "./wait-for-database.js";
export { contractRequires } from "./contract-migration.js";
export { MigrationError, type MigrateOptions } from "./migrate.js";
export { isTransactionConflict, isUnavailable, isUniqueViolation, isInvalidText } from "./errors.js";
