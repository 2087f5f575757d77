// Creations that may take effect after their call has ended
export { FinishedAttempts } from "./create/finished-attempts.js";
export { CREATION_SETTLES_WITHIN_MS, UnsettledCreations, type UnsettledCreationsDeps } from "./create/unsettled-creations.js";
