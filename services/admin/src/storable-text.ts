import { storableText } from "@flyte-ts/execution-state";

const MAX_REASON = 1_000;

/** Why something could not be done. Texts of errors may be of megabytes; who asks reads the beginning. */
export const reasonText = (reason: string): string => storableText(reason).slice(0, MAX_REASON);
