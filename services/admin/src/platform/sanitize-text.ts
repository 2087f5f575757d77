import { sanitizeText } from "@flyte-ts/execution-state";

const MAX_REASON = 1_000;

/** Truncates a failure reason: errors may have megabytes, and readers need the beginning. */
export const truncateReason = (reason: string): string => sanitizeText(reason).slice(0, MAX_REASON);
