/** Times that one round lets a graph begin further nodes: what begins in one round is written at once. */
export const MOST_ROOMS = 64;

/**
 * Time after which a round takes up nothing more, ms: what is left waits for the next round of the workflow, and others have their turn.
 * Beside others it is short, for a node of a chain waits for two or three of these beside a workflow that always has work. Alone it is
 * long: what comes of one round is written at once and travels together.
 */
export const LONGEST_ROUND_MS = { alone: 50, shared: 4 };
