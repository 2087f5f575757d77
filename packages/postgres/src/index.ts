export { createPool, CommitUnknown, type Database, type PoolOptions, type Query, type Queryable, type Result } from "./database.js";
export { bigintArray, booleanArray, byteaArray, integerArray, textArray } from "./binary-array.js";
export { ensureDatabase } from "./ensure-database.js";
export { databaseProblem, whenDatabaseIsThere } from "./wait-for-database.js";
export { contractAfter } from "./contract-step.js";
export { MigrationError, type MigrateOptions } from "./migrate.js";
export { isTransactionConflict, isUnavailable, isUniqueViolation, isUnstorableText } from "./errors.js";
